/**
 * What overlays say, in each language. To add one: copy a block, translate it, give it its own
 * code; the overlay takes it with `?lang=CODE` and the builder lists it.
 *
 * `letters` are the letters of king, queen, rook, bishop and knight in moves. `{}` is filled in.
 */

export const LANGUAGES = {
  en: {
    language: "English",
    letters: ["K", "Q", "R", "B", "N"],
    round: "Round {}",
    board: "Board {}",
    playsLike: "plays like",
    transferred: "transferred",
    algorithm4: "Algorithm 4",
    noMoves: "no move rated yet",
    moves: ["{} move", "{} moves"],
    elo: "Elo {}",
    unrated: "unrated",
    notStarted: "not started",
    swing: "Swing",
    waiting: "Waiting for the game",
    connecting: "Connecting",
    asOf: "as of {} ago",
    sourceSilent: "source silent",
    refused: "Refused: {}",
    notUnderstood: "Not understood: {}",
    standings: "Perceived strength",
    standingsNote: "95 % intervals",
    player: "Player",
    seconds: "{} s",
    minutes: "{} min",
    hours: "{} h",
  },
  de: {
    language: "Deutsch",
    letters: ["K", "D", "T", "L", "S"],
    round: "Runde {}",
    board: "Brett {}",
    playsLike: "spielt wie",
    transferred: "übertragen",
    algorithm4: "Algorithmus 4",
    noMoves: "noch kein Zug bewertet",
    moves: ["{} Zug", "{} Züge"],
    elo: "Elo {}",
    unrated: "ohne Elo",
    notStarted: "noch nicht begonnen",
    swing: "Umschwung",
    waiting: "Warten auf die Partie",
    connecting: "Verbindung wird aufgebaut",
    asOf: "Stand vor {}",
    sourceSilent: "Quelle stumm",
    refused: "Abgelehnt: {}",
    notUnderstood: "Nicht verstanden: {}",
    standings: "Wahrgenommene Spielstärke",
    standingsNote: "95-%-Intervalle",
    player: "Spieler",
    seconds: "{} s",
    minutes: "{} min",
    hours: "{} h",
  },
  fr: {
    language: "Français",
    letters: ["R", "D", "T", "F", "C"],
    round: "Ronde {}",
    board: "Échiquier {}",
    playsLike: "joue comme",
    transferred: "transposé",
    algorithm4: "Algorithme 4",
    noMoves: "aucun coup évalué",
    moves: ["{} coup", "{} coups"],
    elo: "Elo {}",
    unrated: "non classé",
    notStarted: "pas encore commencée",
    swing: "Retournement",
    waiting: "En attente de la partie",
    connecting: "Connexion en cours",
    asOf: "état il y a {}",
    sourceSilent: "source muette",
    refused: "Refusé : {}",
    notUnderstood: "Non compris : {}",
    standings: "Force perçue",
    standingsNote: "intervalles à 95 %",
    player: "Joueur",
    seconds: "{} s",
    minutes: "{} min",
    hours: "{} h",
  },
  es: {
    language: "Español",
    letters: ["R", "D", "T", "A", "C"],
    round: "Ronda {}",
    board: "Tablero {}",
    playsLike: "juega como",
    transferred: "transferido",
    algorithm4: "Algoritmo 4",
    noMoves: "ninguna jugada evaluada",
    moves: ["{} jugada", "{} jugadas"],
    elo: "Elo {}",
    unrated: "sin Elo",
    notStarted: "sin empezar",
    swing: "Vuelco",
    waiting: "Esperando la partida",
    connecting: "Conectando",
    asOf: "datos de hace {}",
    sourceSilent: "fuente sin señal",
    refused: "Rechazado: {}",
    notUnderstood: "No se entiende: {}",
    standings: "Fuerza percibida",
    standingsNote: "intervalos del 95 %",
    player: "Jugador",
    seconds: "{} s",
    minutes: "{} min",
    hours: "{} h",
  },
  it: {
    language: "Italiano",
    letters: ["R", "D", "T", "A", "C"],
    round: "Turno {}",
    board: "Scacchiera {}",
    playsLike: "gioca come",
    transferred: "trasferito",
    algorithm4: "Algoritmo 4",
    noMoves: "nessuna mossa valutata",
    moves: ["{} mossa", "{} mosse"],
    elo: "Elo {}",
    unrated: "senza Elo",
    notStarted: "non ancora iniziata",
    swing: "Ribaltamento",
    waiting: "In attesa della partita",
    connecting: "Connessione in corso",
    asOf: "dati di {} fa",
    sourceSilent: "sorgente muta",
    refused: "Rifiutato: {}",
    notUnderstood: "Non compreso: {}",
    standings: "Forza percepita",
    standingsNote: "intervalli al 95 %",
    player: "Giocatore",
    seconds: "{} s",
    minutes: "{} min",
    hours: "{} h",
  },
  ru: {
    language: "Русский",
    letters: ["Кр", "Ф", "Л", "С", "К"],
    round: "Тур {}",
    board: "Доска {}",
    playsLike: "играет в силу",
    transferred: "перенесено",
    algorithm4: "Алгоритм 4",
    noMoves: "ходы ещё не оценены",
    moves: ["{} ход", "{} хода", "{} ходов"],
    elo: "Эло {}",
    unrated: "без рейтинга",
    notStarted: "партия не началась",
    swing: "Перелом",
    waiting: "Ожидание партии",
    connecting: "Подключение",
    asOf: "данные {} назад",
    sourceSilent: "источник молчит",
    refused: "Отказано: {}",
    notUnderstood: "Непонятно: {}",
    standings: "Видимая сила игры",
    standingsNote: "интервалы 95 %",
    player: "Игрок",
    seconds: "{} с",
    minutes: "{} мин",
    hours: "{} ч",
  },
};

/** `fill("Round {}", 3)`: the text with the value in its place, as text, whatever it holds. */
export function fill(text, value) {
  return text.split("{}").join(String(value));
}

/** A counted thing: `1 move`, `5 moves`; Slavic languages have a third form. */
export function counted(forms, count) {
  const few = count % 10 >= 2 && count % 10 <= 4 && (count % 100 < 12 || count % 100 > 14);
  const one = forms.length === 3 ? count % 10 === 1 && count % 100 !== 11 : count === 1;
  return fill(one ? forms[0] : forms.length === 3 && !few ? forms[2] : forms[1], count);
}

/** Seconds as a rough length of time. */
export function age(words, seconds) {
  if (seconds < 60) return fill(words.seconds, Math.round(seconds));
  if (seconds < 3600) return fill(words.minutes, Math.round(seconds / 60));
  return fill(words.hours, Math.round(seconds / 3600));
}

/** A move with the language's letters. What is no move (feeds are not trusted) stays as it is. */
export function localMove(san, letters) {
  if (!/^[KQRBN]?[a-h1-8x=QRBN+#]+$/.test(san)) return san;
  return san.replace(/[KQRBN]/g, (letter) => letters["KQRBN".indexOf(letter)]);
}
