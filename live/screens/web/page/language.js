/**
 * The page's language, one of the overlays' languages: `?lang=de` or, without it, the browser's. English texts are in the
 * code. Here is a row for each text with the other languages, in the order of `OTHERS`. A text without a row stays
 * English.
 */

import english from "../overlay/language/en.js";
import { known } from "../client/games.js";
import { fill, LANGUAGES } from "../overlay/language/words.js";

const OTHERS = ["de", "fr", "es", "it", "ru"];

/** Return the first of these language tags that the page supports, such as `de` for `de-AT`; otherwise `en`. Pure. */
export function chosenLanguage(tags) {
  const codes = tags.map((tag) => tag.toLowerCase().split("-")[0]);
  return codes.find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/** Tests of pure functions have no page and use English. */
const askedTags = globalThis.document ? [new URL(location.href).searchParams.get("lang") ?? "", ...navigator.languages] : [];
export const language = chosenLanguage(askedTags.filter(Boolean));

/** The overlays' texts in this language. */
export const words = language === "en" ? english : (await import(`../overlay/language/${language}.js`)).default;

/** The locale for dates and times; the European one for a language of several countries. */
export const { locale } = words;

/** Return a text of the page in a language, with `values` in place of `{}`. Pure. */
export const sayIn = (code, text, ...values) => fill(TEXTS[text]?.[OTHERS.indexOf(code)] ?? text, ...values);

/** Return a text in the page's language, with `values` in place of `{}`. */
export const say = (text, ...values) => sayIn(language, text, ...values);

/** Return the name of a round: `Round 4`, or the source's own name for it; empty while unknown. */
export const roundText = (round) => (/^\d/.test(round) ? fill(words.round, round) : known(round));

/** Return the name of a source in the page's language. The public sees no address but a name such as `source 465c2`. */
export const feedText = (feed) => feed.replace(/^source(?= )/, say("Source"));

/** Return the text of a moment in the page's language. */
export const momentText = ({ text }) => text[language] ?? text.en;

export const TEXTS = {
  // The frame of the page.
  "To the boards": ["Zu den Brettern", "Aux échiquiers", "A los tableros", "Alle scacchiere", "К доскам"],
  "Boards": ["Bretter", "Échiquiers", "Tableros", "Scacchiere", "Доски"],
  "Players": ["Spieler", "Joueurs", "Jugadores", "Giocatori", "Игроки"],
  "Health": ["Zustand", "État", "Estado", "Stato", "Состояние"],
  "What do the numbers mean?": ["Was heißen die Zahlen?", "Que disent ces nombres ?", "¿Qué dicen los números?", "Che cosa dicono i numeri?", "Что значат числа?"],
  "Wall": ["Leinwand", "Mur", "Pantalla", "Schermo", "Экран"],
  "Keys": ["Tasten", "Touches", "Teclas", "Tasti", "Клавиши"],
  "Manual": ["Handbuch", "Manuel", "Manual", "Manuale", "Руководство"],
  "Close": ["Schließen", "Fermer", "Cerrar", "Chiudi", "Закрыть"],
  // The connection and the sources.
  "live": ["live", "en direct", "en directo", "in diretta", "в эфире"],
  "not live": ["nicht live", "pas en direct", "no en directo", "non in diretta", "не в эфире"],
  "not live yet": ["noch nicht live", "pas encore en direct", "aún no en directo", "non ancora in diretta", "ещё не в эфире"],
  "over": ["beendet", "terminé", "terminado", "finito", "окончено"],
  "Arbiter": ["Schiedsrichter", "Arbitre", "Árbitro", "Arbitro", "Арбитр"],
  "connecting": ["verbindet", "connexion", "conectando", "collegamento", "подключение"],
  "no connection, trying again{}": ["keine Verbindung, neuer Versuch{}", "pas de connexion, nouvel essai{}", "sin conexión, reintentando{}", "nessuna connessione, nuovo tentativo{}", "нет связи, новая попытка{}"],
  "the service is offline{}": ["der Dienst ist nicht da{}", "le service est absent{}", "el servicio no está{}", "il servizio non c’è{}", "служба недоступна{}"],
  "not there yet, waiting": ["noch nicht da, wartet", "pas encore là, en attente", "aún no está, esperando", "non ancora presente, in attesa", "ещё нет, ожидание"],
  "lost, trying again": ["verloren, neuer Versuch", "perdue, nouvel essai", "perdida, reintentando", "persa, nuovo tentativo", "потеряно, новая попытка"],
  "lost": ["verloren", "perdue", "perdida", "persa", "потеряно"],
  "{} of {}": ["{} von {}", "{} sur {}", "{} de {}", "{} di {}", "{} из {}"],
  "scores": ["Bewertungen", "évaluations", "evaluaciones", "valutazioni", "оценки"],
  "none at the moment": ["derzeit kommen keine", "aucune n’arrive en ce moment", "ahora no llega ninguna", "al momento non ne arrivano", "сейчас не приходят"],
  "slower than usual at the moment": ["kommen derzeit langsamer", "plus lentes en ce moment", "ahora llegan más despacio", "al momento arrivano più lente", "сейчас приходят медленнее"],
  "may still move, in finished games too: this engine is new here and is being measured, {} % done": ["kann sich noch ändern, auch in beendeten Partien: diese Engine ist neu hier und wird vermessen, {} % fertig", "peut encore bouger, même pour les parties finies : ce moteur est nouveau ici, sa mesure est faite à {} %", "aún puede cambiar, también en partidas terminadas: este motor es nuevo aquí y se está midiendo, {} % hecho", "può ancora cambiare, anche nelle partite finite: questo motore è nuovo qui e si sta misurando, {} % fatto", "ещё может измениться, и в оконченных партиях: этот движок здесь впервые и измеряется, готово {} %"],
  "The public sees boards {} late": ["Das Publikum sieht die Bretter {} später", "Le public voit les échiquiers avec {} de retard", "El público ve los tableros {} más tarde", "Il pubblico vede le scacchiere con {} di ritardo", "Публика видит доски с задержкой {}"],
  "This view could not be loaded. Trying again \u2026": ["Diese Ansicht lädt nicht. Neuer Versuch \u2026", "Cette vue ne se charge pas. Nouvel essai \u2026", "Esta vista no carga. Reintentando \u2026", "Questa vista non si carica. Nuovo tentativo \u2026", "Не загружается. Новая попытка \u2026"],
  "Not connected: nothing was sent.": ["Nicht verbunden: nichts gesendet.", "Non connecté : rien n’est envoyé.", "Sin conexión: no se envió nada.", "Non collegato: nulla è stato inviato.", "Нет связи: ничего не отправлено."],
  // The view of all boards.
  "No game yet": ["Noch keine Partie", "Pas encore de partie", "Aún no hay partidas", "Ancora nessuna partita", "Партий пока нет"],
  "What is followed:": ["Verfolgt wird:", "Suivi :", "Se sigue:", "Si segue:", "Отслеживается:"],
  "Games appear here by themselves as soon as a source sends them.": ["Partien erscheinen hier von selbst, sobald eine Quelle sie sendet.", "Les parties apparaissent ici dès qu’une source les envoie.", "Las partidas aparecen aquí solas en cuanto una fuente las envía.", "Le partite appaiono qui da sole appena una fonte le invia.", "Партии появятся здесь сами, как только источник их пришлёт."],
  "Filter: player, team, event, round": ["Filter: Spieler, Team, Turnier, Runde", "Filtre : joueur, équipe, tournoi, ronde", "Filtro: jugador, equipo, torneo, ronda", "Filtro: giocatore, squadra, torneo, turno", "Фильтр: игрок, команда, турнир, тур"],
  "Show": ["Zeigen", "Montrer", "Mostrar", "Mostra", "Показать"],
  "all boards": ["alle Bretter", "tous les échiquiers", "todos los tableros", "tutte le scacchiere", "все доски"],
  "running": ["laufende", "en cours", "en juego", "in corso", "идут"],
  "Sorted by": ["Sortiert nach", "Triés par", "Ordenar por", "Ordina per", "Порядок"],
  "As": ["Als", "Comme", "Como", "Come", "Вид"],
  "fits best": ["passend", "au mieux", "lo que quepa", "adatto", "по размеру"],
  "boards": ["Bretter", "échiquiers", "tableros", "scacchiere", "доски"],
  "lines": ["Zeilen", "lignes", "líneas", "righe", "строки"],
  "View": ["Ansicht", "Vue", "Vista", "Vista", "Вид"],
  "Board": ["Brett", "Échiquier", "Tablero", "Scacchiera", "Доска"],
  "Closest score": ["Knappste Bewertung", "Score le plus serré", "Más igualada", "Punteggio più vicino", "Самая равная"],
  "Playing best": ["Spielt am besten", "Joue le mieux", "Mejor juego", "Gioca meglio", "Лучшая игра"],
  "Least time left": ["Wenigste Zeit", "Le moins de temps", "Menos tiempo", "Meno tempo", "Меньше времени"],
  "Nothing matches the filter.": ["Nichts passt zum Filter.", "Rien ne correspond au filtre.", "Nada cumple el filtro.", "Nulla corrisponde al filtro.", "Ничего не подходит под фильтр."],
  "Nothing here yet.": ["Hier ist noch nichts.", "Encore rien ici.", "Aún no hay nada.", "Ancora niente qui.", "Здесь пока ничего нет."],
  "{} of {} boards": ["{} von {} Brettern", "{} échiquiers sur {}", "{} de {} tableros", "{} scacchiere su {}", "{} из {} досок"],
  "Best so far: {}, playing like {}{}.": ["Am besten bisher: {}, spielt wie {}{}.", "Le meilleur jusqu’ici : {}, joue comme {}{}.", "Lo mejor hasta ahora: {}, juega como {}{}.", "Il migliore finora: {}, gioca come {}{}.", "Пока лучше всех: {}, играет как {}{}."],
  "Games: {}, decided: {}.": ["Partien: {}, entschieden: {}.", "Parties : {}, décidées : {}.", "Partidas: {}, decididas: {}.", "Partite: {}, decise: {}.", "Партий: {}, результативных: {}."],
  "Upsets: {}.": ["Überraschungen: {}.", "Surprises : {}.", "Sorpresas: {}.", "Sorprese: {}.", "Сенсаций: {}."],
  "Best of the round: {}, played like {} (Elo {}).": ["Am besten: {}, spielte wie {} (Elo {}).", "Le meilleur : {}, a joué comme {} (Elo {}).", "Lo mejor: {}, jugó como {} (Elo {}).", "Il migliore: {}, ha giocato come {} (Elo {}).", "Лучше всех: {}, играл как {} (рейтинг {})."],
  "Large figure: plays like this rating. Band: usual for the Elo. Dashed: own Elo.": ["Große Zahl: spielt wie mit dieser Elo. Band: üblich für die Elo. Gestrichelt: eigene Elo.", "Grand nombre : joue comme à ce classement. Bande : habituel pour l’Elo. Tireté : son Elo.", "Cifra grande: juega como con este Elo. Franja: habitual para el Elo. Discontinua: Elo propio.", "Cifra grande: gioca come a questo Elo. Striscia: consueto per l’Elo. Tratteggio: il proprio Elo.", "Крупное число: играет как с этим рейтингом. Полоска: обычное для него. Пунктир: свой рейтинг."],
  "Round in one picture": ["Die Runde in einem Bild", "La ronde en une image", "La ronda en una imagen", "Il turno in un’immagine", "Тур на одной картинке"],
  "Board {}": ["Brett {}", "Échiquier {}", "Tablero {}", "Scacchiera {}", "Доска {}"],
  "Newest: {}": ["Neueste: {}", "Dernière : {}", "Última: {}", "Ultimo: {}", "Новый: {}"],
  "Newest rounds": ["Neueste Runden", "Dernières rondes", "Últimas rondas", "Ultimi turni", "Последние туры"],
  "All rounds": ["Alle Runden", "Toutes les rondes", "Todas las rondas", "Tutti i turni", "Все туры"],
  "Other games": ["Andere Partien", "Autres parties", "Otras partidas", "Altre partite", "Другие партии"],
  "Round not named": ["Runde unbenannt", "Ronde sans nom", "Ronda sin nombre", "Turno senza nome", "Тур не назван"],
  "{} of {} over": ["{} von {} beendet", "{} sur {} terminées", "{} de {} terminadas", "{} su {} finite", "окончено {} из {}"],
  "not begun": ["nicht begonnen", "pas commencée", "sin empezar", "non iniziato", "не начат"],
  "Team matches": ["Mannschaftskämpfe", "Matchs par équipes", "Encuentros por equipos", "Incontri a squadre", "Матчи команд"],
  "Moments": ["Momente", "Moments", "Momentos", "Momenti", "Моменты"],
  "open": ["öffnen", "ouvrir", "abrir", "apri", "открыть"],
  // The view of one board.
  "watch at the source": ["an der Quelle ansehen", "voir à la source", "ver en la fuente", "guarda alla fonte", "смотреть в источнике"],
  "not scored yet": ["noch nicht bewertet", "pas encore évalué", "aún sin evaluar", "non ancora valutato", "ещё нет оценки"],
  "{} still searching": ["{} sucht noch", "{} calcul en cours", "{} aún busca", "{} ancora in analisi", "{} ещё считает"],
  "Start": ["Anfang", "Début", "Inicio", "Inizio", "Начало"],
  "Moves": ["Züge", "Coups", "Jugadas", "Mosse", "Ходы"],
  "Playing like": ["Spielt wie", "Joue comme", "Juega como", "Gioca come", "Играет как"],
  "usual": ["üblich", "habituel", "habitual", "consueto", "обычно"],
  "Score": ["Bewertung", "Évaluation", "Evaluación", "Valutazione", "Оценка"],
  "No position has a score yet.": ["Noch keine Stellung bewertet.", "Aucune position évaluée.", "Aún no hay posiciones evaluadas.", "Nessuna posizione valutata.", "Оценок пока нет."],
  "The curves begin with the fifth rated move.": ["Die Kurven beginnen mit dem fünften bewerteten Zug.", "Les courbes commencent au cinquième coup évalué.", "Las curvas empiezan con la quinta jugada evaluada.", "Le curve iniziano dalla quinta mossa valutata.", "Кривые начинаются с пятого оценённого хода."],
  "Algorithm 4, move by move": ["Algorithmus 4, Zug um Zug", "Algorithme 4, coup par coup", "Algoritmo 4, jugada a jugada", "Algoritmo 4, mossa per mossa", "Алгоритм 4, ход за ходом"],
  "from before the restart; its source has not sent it again yet": ["von vor dem Neustart; die Quelle hat sie noch nicht wieder gesendet", "d’avant le redémarrage ; sa source ne l’a pas encore renvoyée", "de antes del reinicio; su fuente aún no la ha vuelto a enviar", "di prima del riavvio; la fonte non l’ha ancora inviata di nuovo", "до перезапуска; источник ещё не прислал снова"],
  "its sources contradict each other: {}": ["die Quellen widersprechen sich: {}", "les sources se contredisent : {}", "las fuentes se contradicen: {}", "le fonti si contraddicono: {}", "источники противоречат друг другу: {}"],
  // The views of players.
  "Filter players": ["Spieler filtern", "Filtrer les joueurs", "Filtrar jugadores", "Filtra i giocatori", "Фильтр игроков"],
  "Elo": ["Elo", "Elo", "Elo", "Elo", "Эло"],
  "Points": ["Punkte", "Points", "Puntos", "Punti", "Очки"],
  "Games": ["Partien", "Parties", "Partidas", "Partite", "Партии"],
  "Not here: {}. It may be gone, or belong to another round or address.": ["Nicht hier: {}. Vielleicht nicht mehr da, oder aus einer anderen Runde oder Adresse.", "Pas ici : {}. Peut-être parti, ou d’une autre ronde ou adresse.", "No está aquí: {}. Quizá ya no existe, o es de otra ronda o dirección.", "Non è qui: {}. Forse non c’è più, o è di un altro turno o indirizzo.", "Здесь нет: {}. Возможно, удалено или из другого тура или адреса."],
  "All boards": ["Alle Bretter", "Tous les échiquiers", "Todos los tableros", "Tutte le scacchiere", "Все доски"],
  "Players with under ten counted moves have no place.": ["Unter zehn gezählten Zügen hat niemand einen Platz.", "Sous dix coups comptés, personne n’est classé.", "Con menos de diez jugadas nadie tiene puesto.", "Sotto dieci mosse contate nessuno ha un posto.", "До десяти учтённых ходов места нет."],
  "Follow {}": ["{} verfolgen", "Suivre {}", "Seguir a {}", "Segui {}", "Следить: {}"],
  "\u2605 followed: {}": ["\u2605 verfolgt: {}", "\u2605 suivis : {}", "\u2605 seguidos: {}", "\u2605 seguiti: {}", "\u2605 избрано: {}"],
  "FIDE performance": ["FIDE-Leistung", "Performance FIDE", "Rendimiento FIDE", "Performance FIDE", "Перформанс ФИДЕ"],
  "Rating change": ["Elo-Änderung", "Variation d’Elo", "Cambio de Elo", "Variazione Elo", "Изменение рейтинга"],
  "Algorithm 4": ["Algorithmus 4", "Algorithme 4", "Algoritmo 4", "Algoritmo 4", "Алгоритм 4"],
  "no game is finished": ["noch keine Partie beendet", "aucune partie terminée", "ninguna partida terminada", "nessuna partita finita", "нет оконченных партий"],
  "needs a finished game against a rated opponent": ["braucht eine beendete Partie gegen einen Gegner mit Elo", "demande une partie terminée contre un adversaire classé", "necesita una partida terminada contra un rival con Elo", "serve una partita finita contro un avversario con Elo", "нужна оконченная партия с рейтинговым соперником"],
  "not known yet": ["noch nicht bekannt", "pas encore connu", "aún desconocido", "non ancora noto", "пока неизвестно"],
  "the source gives no rating": ["die Quelle nennt keine Elo", "la source ne donne pas d’Elo", "la fuente no da Elo", "la fonte non dà un Elo", "источник не даёт рейтинга"],
  "under five counted moves, or nothing reads these scores": ["unter fünf gezählten Zügen, oder nichts liest diese Bewertungen", "moins de cinq coups comptés, ou rien ne lit ces évaluations", "menos de cinco jugadas, o nada lee estas evaluaciones", "meno di cinque mosse contate, o nulla legge queste valutazioni", "меньше пяти учтённых ходов, или эти оценки нечем читать"],
  "unbounded, or no move rated yet": ["unbegrenzt, oder noch kein Zug bewertet", "non borné, ou aucun coup évalué", "sin límite, o ninguna jugada evaluada", "illimitato, o nessuna mossa valutata", "без границ, или ни один ход не оценён"],
  "needs an own rating and a finished game against a rated opponent": ["braucht eine eigene Elo und eine beendete Partie gegen einen Gegner mit Elo", "demande un Elo et une partie terminée contre un adversaire classé", "necesita un Elo propio y una partida terminada contra un rival con Elo", "richiede un Elo e una partita finita contro un avversario con Elo", "нужны свой рейтинг и оконченная партия с рейтинговым соперником"],
  "needs an own rating and ten counted moves": ["braucht eine eigene Elo und zehn gezählte Züge", "demande un Elo et dix coups comptés", "necesita un Elo propio y diez jugadas", "servono un Elo e dieci mosse contate", "нужны свой рейтинг и десять учтённых ходов"],
  // The share menu.
  "Share": ["Teilen", "Partager", "Compartir", "Condividi", "Поделиться"],
  "Send \u2026": ["Senden \u2026", "Envoyer \u2026", "Enviar \u2026", "Invia \u2026", "Отправить \u2026"],
  "Copy link": ["Link kopieren", "Copier le lien", "Copiar enlace", "Copia il link", "Копировать ссылку"],
  "Copy link to followed \u2605": ["Link zu verfolgten \u2605 kopieren", "Copier le lien des suivis \u2605", "Copiar enlace de seguidos \u2605", "Copia il link dei seguiti \u2605", "Копировать ссылку на избранных \u2605"],
  "Image": ["Bild", "Image", "Imagen", "Immagine", "Картинка"],
  "The link is copied.": ["Der Link ist kopiert.", "Le lien est copié.", "El enlace está copiado.", "Il link è copiato.", "Ссылка скопирована."],
  "Saved as {}.": ["Als {} gespeichert.", "Enregistré en {}.", "Guardado como {}.", "Salvato come {}.", "Сохранено как {}."],
  "That did not work: {}": ["Das ging nicht: {}", "Cela a échoué : {}", "No funcionó: {}", "Non ha funzionato: {}", "Не получилось: {}"],
  "the service answered {}": ["der Dienst antwortete {}", "le service a répondu {}", "el servicio respondió {}", "il servizio ha risposto {}", "служба ответила {}"],
  "Copy this link: {}": ["Diesen Link kopieren: {}", "Copiez ce lien : {}", "Copie este enlace: {}", "Copiate questo link: {}", "Скопируйте ссылку: {}"],
  // The view of health, and the form for the token.
  "Sources": ["Quellen", "Sources", "Fuentes", "Fonti", "Источники"],
  "Source": ["Quelle", "Source", "Fuente", "Fonte", "Источник"],
  "State": ["Zustand", "État", "Estado", "Stato", "Состояние"],
  "Detail": ["Näheres", "Détail", "Detalle", "Dettaglio", "Подробности"],
  "stale": ["still", "silencieuse", "en silencio", "silenziosa", "молчит"],
  "failed": ["ausgefallen", "en panne", "caído", "guasto", "сбой"],
  "retrying": ["neuer Versuch", "nouvel essai", "reintentando", "nuovo tentativo", "новая попытка"],
  "waiting": ["wartet", "en attente", "esperando", "in attesa", "ожидание"],
  "finished": ["beendet", "terminée", "terminada", "finita", "окончено"],
  "Engine": ["Engine", "Moteur", "Motor", "Motore", "Движок"],
  "Engines": ["Engines", "Moteurs", "Motores", "Motori", "Движки"],
  "starting": ["startet", "démarre", "arranca", "in avvio", "запуск"],
  "idle": ["bereit", "libre", "libre", "libero", "свободен"],
  "searching": ["rechnet", "calcule", "calcula", "calcola", "считает"],
  "restarting": ["startet neu", "redémarre", "se reinicia", "riavvio", "перезапуск"],
  "knodes/s": ["kKnoten/s", "k nœuds/s", "knodos/s", "knodi/s", "тыс. узлов/с"],
  "All engines together": ["Alle Engines zusammen", "Tous les moteurs", "Todos los motores", "Tutti i motori", "Все движки вместе"],
  "Problem": ["Problem", "Problème", "Problema", "Problema", "Проблема"],
  "none": ["keines", "aucun", "ninguno", "nessuno", "нет"],
  "Behind": ["Im Rückstand", "En retard", "Atraso", "In ritardo", "Отставание"],
  "no": ["nein", "non", "no", "no", "нет"],
  "not shown here": ["hier nicht gezeigt", "pas montré ici", "no se muestra aquí", "non mostrato qui", "здесь не показано"],
  "Positions waiting": ["Wartende Stellungen", "Positions en attente", "Posiciones en espera", "Posizioni in attesa", "Позиций в очереди"],
  "{}, the oldest for {}": ["{}, die älteste seit {}", "{}, la plus ancienne depuis {}", "{}, la más antigua desde hace {}", "{}, la più vecchia da {}", "{}, самая старая: {}"],
  "Searches": ["Berechnungen", "Calculs", "Cálculos", "Calcoli", "Расчётов"],
  "{}, {} % of {} known already": ["{}, {} % von {} schon bekannt", "{}, {} % de {} déjà connus", "{}, {} % de {} ya conocidos", "{}, {} % di {} già noti", "{}, {} % из {} уже известны"],
  "Restarts": ["Neustarts", "Redémarrages", "Reinicios", "Riavvii", "Перезапусков"],
  "this page is older than the service: reload it": ["diese Seite ist älter als der Dienst: neu laden", "cette page est plus ancienne que le service : rechargez-la", "esta página es más antigua que el servicio: recárguela", "questa pagina è più vecchia del servizio: ricaricala", "страница старше службы: обновите её"],
  "the service is older than this page: update the service, or write the page again": ["der Dienst ist älter als diese Seite: erneuern oder die Seite neu schreiben", "le service est plus ancien que cette page : mettez-le à jour ou réécrivez la page", "el servicio es más antiguo que esta página: actualícelo o escriba la página de nuevo", "il servizio è più vecchio di questa pagina: aggiornalo o riscrivi la pagina", "служба старше страницы: обновите службу или создайте страницу заново"],
  "Token": ["Token", "Jeton", "Token", "Token", "Токен"],
  "This address is for screens that players can see: scores and ratings are withheld.": ["Diese Adresse ist für Bildschirme, die Spieler sehen: ohne Bewertungen und Zahlen.", "Cette adresse est pour les écrans visibles des joueurs : sans évaluations ni classements.", "Esta dirección es para pantallas que ven los jugadores: sin evaluaciones ni niveles.", "Questo indirizzo è per schermi visibili ai giocatori: senza valutazioni né livelli.", "Этот адрес для экранов, видных игрокам: без оценок и рейтингов."],
  // The view of arbiters.
  "For arbiters only": ["Nur für Schiedsrichter", "Pour les arbitres seulement", "Solo para árbitros", "Solo per gli arbitri", "Только для арбитров"],
  "Nothing to look at.": ["Nichts zu prüfen.", "Rien à vérifier.", "Nada que revisar.", "Nulla da controllare.", "Проверять нечего."],
  "alarm": ["Alarm", "alarme", "alarma", "allarme", "тревога"],
  "warning": ["Warnung", "avertissement", "aviso", "avviso", "внимание"],
  "look": ["ansehen", "à voir", "mirar", "da vedere", "посмотреть"],
  "acknowledged": ["gesehen", "vue", "vista", "vista", "принято"],
  "muted": ["stumm", "muette", "silenciada", "silenziata", "без звука"],
  "Acknowledge": ["Gesehen", "Vu", "Visto", "Visto", "Принять"],
  "Mute": ["Stumm", "Taire", "Silenciar", "Silenzia", "Заглушить"],
  "This alert": ["Diese Meldung", "Cette alerte", "Esta alerta", "Questo avviso", "Это сообщение"],
  "This board": ["Dieses Brett", "Cet échiquier", "Este tablero", "Questa scacchiera", "Эту доску"],
  "All of this kind": ["Alle dieser Art", "Toutes de ce type", "Todas de este tipo", "Tutti di questo tipo", "Все такого вида"],
  "Unmute": ["Wieder melden", "Montrer à nouveau", "Mostrar de nuevo", "Mostra di nuovo", "Показывать снова"],
  "Note on this alert": ["Notiz zu dieser Meldung", "Note sur cette alerte", "Nota sobre esta alerta", "Nota su questo avviso", "Заметка к сообщению"],
  "Note": ["Notiz", "Noter", "Anotar", "Annota", "Заметка"],
  "Note: {}": ["Notiz: {}", "Note : {}", "Nota: {}", "Nota: {}", "Заметка: {}"],
  "Sound: off": ["Ton: aus", "Son : coupé", "Sonido: no", "Suono: spento", "Звук: нет"],
  "Sound: alarms": ["Ton: Alarme", "Son : alarmes", "Sonido: alarmas", "Suono: allarmi", "Звук: тревоги"],
  "Sound: every alert": ["Ton: alle Meldungen", "Son : toutes les alertes", "Sonido: todas las alertas", "Suono: tutti gli avvisi", "Звук: все сообщения"],
  "{} % of {} moves, expected {} %, z = {}. With {} boards, {} % of honest events show such a figure. {} It accuses nobody.": ["{} % von {} Zügen, erwartet {} %, z = {}. Bei {} Brettern zeigen {} % der ehrlichen Turniere so eine Zahl. {} Sie beschuldigt niemanden.", "{} % de {} coups, attendu {} %, z = {}. Sur {} échiquiers, {} % des tournois honnêtes montrent un tel nombre. {} Il n’accuse personne.", "{} % de {} jugadas, esperado {} %, z = {}. Con {} tableros, el {} % de los torneos honestos muestran esta cifra. {} No acusa a nadie.", "{} % di {} mosse, atteso {} %, z = {}. Su {} scacchiere il {} % dei tornei onesti mostra una cifra così. {} Non accusa nessuno.", "{} % из {} ходов, ожидалось {} %, z = {}. На {} досках такое число дают {} % честных турниров. {} Оно никого не обвиняет."],
  "Incident log": ["Protokoll", "Journal des incidents", "Registro de incidentes", "Registro degli episodi", "Журнал происшествий"],
  "Filter: words in the log": ["Filter: Wörter im Protokoll", "Filtre : mots du journal", "Filtro: palabras del registro", "Filtro: parole del registro", "Фильтр: слова журнала"],
  "No.": ["Nr.", "N°", "N.º", "N.", "№"],
  "What happened": ["Was geschah", "Ce qui s’est passé", "Qué pasó", "Che cosa è successo", "Что произошло"],
  "Print": ["Drucken", "Imprimer", "Imprimir", "Stampa", "Печать"],
  "Entry into the log": ["Eintrag ins Protokoll", "Entrée dans le journal", "Entrada en el registro", "Voce nel registro", "Запись в журнал"],
  "Write": ["Eintragen", "Écrire", "Escribir", "Scrivi", "Записать"],
  "still open": ["noch offen", "encore ouvert", "aún abierto", "ancora aperto", "ещё открыто"],
  "The log cannot be read: {}.": ["Das Protokoll ist nicht lesbar: {}.", "Le journal est illisible : {}.", "No se puede leer el registro: {}.", "Il registro non si legge: {}.", "Журнал не читается: {}."],
  "as of {}": ["Stand {}", "au {}", "a fecha de {}", "al {}", "на {}"],
  "Incidents: {}, open: {}": ["Vorfälle: {}, offen: {}", "Incidents : {}, ouverts : {}", "Incidentes: {}, abiertos: {}", "Episodi: {}, aperti: {}", "Происшествий: {}, открыто: {}"],
  "only those with: {}": ["nur mit: {}", "seulement avec : {}", "solo con: {}", "solo con: {}", "только со словами: {}"],
  "Round": ["Runde", "Ronde", "Ronda", "Turno", "Тур"],
  "Hall": ["Saal", "Salle", "Sala", "Sala", "Зал"],
  "Date": ["Datum", "Date", "Fecha", "Data", "Дата"],
  "Signature": ["Unterschrift", "Signature", "Firma", "Firma", "Подпись"],
  "raised": ["gemeldet", "signalé", "avisado", "segnalato", "замечено"],
  "raised again": ["erneut gemeldet", "signalé à nouveau", "avisado de nuevo", "segnalato di nuovo", "замечено снова"],
  "changed": ["geändert", "modifié", "cambiado", "cambiato", "изменено"],
  "noted": ["notiert", "noté", "anotado", "annotato", "заметка"],
  "unmuted": ["wieder gemeldet", "à nouveau montrée", "mostrada de nuevo", "di nuovo mostrata", "снова показано"],
  "entry": ["Eintrag", "entrée", "entrada", "voce", "запись"],
  // The help about keys.
  "wall: all boards, for a screen in the hall": ["Leinwand: alle Bretter, für einen Bildschirm im Saal", "mur : tous les échiquiers, pour un écran dans la salle", "pantalla: todos los tableros, para la sala", "schermo: tutte le scacchiere, per la sala", "экран: все доски, для зала"],
  "filter": ["filtern", "filtrer", "filtrar", "filtra", "фильтр"],
  "open a board": ["ein Brett öffnen", "ouvrir un échiquier", "abrir un tablero", "apri una scacchiera", "открыть доску"],
  "one move back": ["einen Zug zurück", "un coup en arrière", "una jugada atrás", "una mossa indietro", "на ход назад"],
  "one move forward": ["einen Zug weiter", "un coup en avant", "una jugada adelante", "una mossa avanti", "на ход вперёд"],
  "to the start": ["zum Anfang", "au début", "al inicio", "all’inizio", "в начало"],
  "to the newest move": ["zum neuesten Zug", "au dernier coup", "a la última jugada", "all’ultima mossa", "к последнему ходу"],
  "turn the board": ["Brett drehen", "tourner l’échiquier", "girar el tablero", "gira la scacchiera", "перевернуть доску"],
  "back to all boards": ["zurück zu allen Brettern", "retour aux échiquiers", "volver a los tableros", "torna alle scacchiere", "назад к доскам"],
  "this help": ["diese Hilfe", "cette aide", "esta ayuda", "questo aiuto", "эта справка"],
  "Single-letter keys work": ["Tasten mit einem Buchstaben wirken", "Les touches d’une lettre agissent", "Las teclas de una letra actúan", "I tasti di una lettera agiscono", "Клавиши из одной буквы действуют"],
  // The explanation of the figures.
  "\u201cPlaying like 2340\u201d: every move is compared with what players of every rating lose in the same position, as learned from rated games. 2340 is the rating that these moves look like. Both players of a game start at its level, and the moves pull them away from it.": ["\u201eSpielt wie 2340\u201c: Jeder Zug wird damit verglichen, was Spieler jeder Stärke in dieser Stellung verlieren, gelernt aus gewerteten Partien. 2340 ist die Zahl, nach der diese Züge aussehen. Beide beginnen auf der Höhe der Partie, und die Züge ziehen sie davon weg.", "« Joue comme 2340 » : chaque coup est comparé à ce que perdent des joueurs de tout niveau dans la même position, appris de parties classées. 2340 est le classement auquel ces coups ressemblent. Les deux joueurs partent du niveau de la partie, et les coups les en éloignent.", "«Juega como 2340»: cada jugada se compara con lo que pierden jugadores de todos los niveles en la misma posición, aprendido de partidas valoradas. 2340 es el nivel al que se parecen estas jugadas. Ambos empiezan al nivel de la partida, y las jugadas los alejan de él.", "«Gioca come 2340»: ogni mossa è confrontata con ciò che giocatori di ogni livello perdono nella stessa posizione, imparato da partite valutate. 2340 è il livello a cui queste mosse somigliano. Entrambi partono dal livello della partita, e le mosse li allontanano.", "«Играет как 2340»: каждый ход сравнивается с тем, сколько теряют игроки разной силы в той же позиции, по рейтинговым партиям. 2340 — рейтинг, на который похожи эти ходы. Оба начинают с уровня партии, и ходы уводят их от него."],
  "The strip below a figure shows what is usual: 8 of 10 games by players of this rating lie in its dark part. A dot outside it, with \u25b2 or \u25bc and the distance from the Elo, is unusual. A finished game is compared with whole games, which spread a little wider.": ["Der Streifen unter einer Zahl zeigt, was üblich ist: 8 von 10 Partien von Spielern dieser Elo liegen im dunklen Teil. Ein Punkt außerhalb, mit \u25b2 oder \u25bc und dem Abstand zur Elo, ist ungewöhnlich. Eine beendete Partie wird mit ganzen Partien verglichen, die etwas weiter streuen.", "La bande sous un nombre montre l’habituel : 8 parties sur 10 de joueurs de ce classement sont dans sa partie foncée. Un point en dehors, avec \u25b2 ou \u25bc et l’écart à l’Elo, est inhabituel. Une partie finie est comparée à des parties entières, un peu plus dispersées.", "La franja bajo una cifra es lo habitual: 8 de cada 10 partidas de jugadores de este Elo caen en su parte oscura. Un punto fuera, con \u25b2 o \u25bc y la distancia al Elo, es inusual. Una partida terminada se compara con partidas enteras, algo más dispersas.", "La striscia sotto una cifra è il consueto: 8 partite su 10 di giocatori di questo Elo stanno nella parte scura. Un punto fuori, con \u25b2 o \u25bc e la distanza dall’Elo, è insolito. Una partita finita è confrontata con partite intere, un po’ più disperse.", "Полоска под числом — обычное: 8 из 10 партий игроков с этим рейтингом попадают в её тёмную часть. Точка вне её, с \u25b2 или \u25bc и расстоянием до Эло, необычна. Оконченная партия сравнивается с целыми партиями, где разброс чуть шире."],
  "Under five counted moves there is no figure. Under ten it is early: small and grey. Known theory counts too, so wait until about move 15.": ["Unter fünf gezählten Zügen gibt es keine Zahl. Unter zehn ist sie früh: klein und grau. Bekannte Theorie zählt mit, also etwa bis Zug 15 warten.", "Sous cinq coups comptés il n’y a pas de nombre. Sous dix c’est encore tôt : il est petit et gris. La théorie connue compte aussi : attendez le coup 15 environ.", "Con menos de cinco jugadas no hay cifra. Con menos de diez es pronto: es pequeña y gris. La teoría conocida también cuenta: espere hasta la jugada 15.", "Sotto cinque mosse contate non c’è cifra. Sotto dieci è presto: è piccola e grigia. Conta anche la teoria nota: aspettate circa la mossa 15.", "До пяти учтённых ходов числа нет. До десяти ещё рано: оно мелкое и серое. Известная теория тоже считается: подождите примерно до 15-го хода."],
  "A high figure is evidence only of good moves in this game. It accuses nobody.": ["Eine hohe Zahl belegt nur gute Züge in dieser Partie. Sie beschuldigt niemanden.", "Un nombre élevé ne prouve que de bons coups dans cette partie. Il n’accuse personne.", "Una cifra alta solo prueba buenas jugadas en esta partida. No acusa a nadie.", "Una cifra alta prova solo buone mosse in questa partita. Non accusa nessuno.", "Высокое число говорит лишь о хороших ходах в этой партии. Оно никого не обвиняет."],
  "In charts, the shaded band is what is usual and the dashed line is the own Elo; moves that cost 10 points of expected score are labelled.": ["In Kurven ist die Schattierung das Übliche, gestrichelt die eigene Elo; Züge, die 10 Punkte Gewinnerwartung kosten, sind benannt.", "Dans les courbes, l’ombre est l’habituel, le tireté l’Elo propre ; les coups qui coûtent 10 points d’espérance sont nommés.", "En las curvas la sombra es lo habitual, la línea discontinua el Elo propio; se nombran las jugadas que cuestan 10 puntos de expectativa.", "Nelle curve l’ombra è il consueto, il tratteggio il proprio Elo; le mosse che costano 10 punti di attesa hanno il nome.", "На графиках тень — обычное, пунктир — свой рейтинг; ходы, стоившие 10 пунктов ожидания, подписаны."],
};
