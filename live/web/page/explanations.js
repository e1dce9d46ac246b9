/** What the figures mean, in plain words, one click away from each of them. */

import { element } from "../drawing/elements.js";

/** Title, then paragraphs. */
export const WORDS = {
  overview: [
    "What do the numbers mean?",
    "Every move is compared with what the engine would have played. From what the moves lost follow the figures: how strong the play looks, not how strong the player is.",
    "Where a player has an Elo, the large figure is the level, while these moves make at least 15 % of it; else the percentile: better than so many games by players rated like this. Without an Elo it is the Elo of the moves alone. \u201cLarge figure\u201d above the boards changes that.",
    "One game says little. The range beside a figure is its 95 % interval: it holds the true value in 95 of 100 cases. After a few moves it is very wide, because the truth is. Beside each figure stands how many moves it rests on.",
    "\u201c2450 or more\u201d and \u201c2034 or less\u201d have no other end: no number is made up for it. Figures with \u2026 or in italics are provisional: the engine is still searching.",
    "A high figure is no evidence of anything but good moves. It accuses nobody.",
  ],
  leading: [
    "The large figure",
    "Where a player has an Elo: the level, while these moves make at least 15 % of it; else the percentile, with the level beneath. Under five moves there is none. Without an Elo: the level by the field, or the Elo of the moves alone.",
  ],
  level: [
    "Level",
    "The Elo a player played at: the own Elo, or without one the field's, and these moves together. One game moves it little, and the share says how much of it comes from these moves; the rest was known before.",
    "Where one game says nothing beyond a player's Elo and the difficulty of the game, the level is the Elo, and = Elo stands beside it.",
  ],
  transferred: [
    "Transferred from another engine",
    "How players of a rating play was learned from games that another engine had searched. It was transferred to the engine that runs here by the scores of both in the same positions. Ranges are wider for it. The health view says from which engine.",
  ],
  percentile: [
    "Percentile",
    "74 % means: better than 74 in 100 games by players rated like this one, in games of this kind and length, in positions as hard. The positions are taken into account, because one hard game costs both players.",
    "Of a player's usual games, 8 in 10 lie between 10 and 90 %, so these are within the usual range. Beyond them he plays better or worse than usual, perhaps; beyond 2.5 and 97.5 %, clearly. Under 15 counted moves it is too early to say.",
    "It describes this game; it is no rating. It needs an Elo and five counted moves.",
  ],
  alone: [
    "Moves alone",
    "The Elo at which the counted moves are likeliest, whoever made them: no own Elo, no field, no result. So it is without bias and very wide: one game says little.",
  ],
  performance: [
    "Performance",
    "The Elo at which moves and results together are likeliest against these opponents; the own Elo is not used. While a game runs, what the position promises stands for its result. Where pairing is by rating, the opponents' Elo gives it away.",
  ],
  fide: [
    "FIDE's performance",
    "The rating performance by FIDE's table: finished games against rated opponents, results alone. Beneath it what these games change of the own rating, with K from the rating list. K? is what the rating implies (10 from 2400 on, else 20), though juniors and newcomers have 40.",
  ],
  odds: [
    "Expected result",
    "How likely White is to win, the game to be drawn and Black to win from here: learned from rated games, by the score, both players' Elo and how far the game has gone.",
  ],
  human: [
    "What others would play",
    "How many players of the mover's rating would play this move among themselves, by a network that learned from rated games, weighed by what the moves lose; below 1000 and above 2800 it takes the nearest of these. It knows no clocks.",
    "The bar is the position that came of it, for the player to move: green find the engine's best move, red lose a pawn or more.",
    "Find (!): no worse than the engine's best, fewer than 1 in 4 would play it, and the others lose 0.40 pawns or more on average. Trap (!?): it costs little, the reply that looks most natural loses a pawn or more, and at least 1 in 10 would err.",
    "Shares are rounded to what such a network can say. They describe the position, and say nothing about how a move came about.",
  ],
  places: [
    "Places",
    "A place is one more than the number of players who are certainly better: their 95 % interval lies above. Players whose intervals overlap have the same place, marked by =. Under five counted moves nobody has a place.",
  ],
  a4: [
    "Algorithm 4 (Ferreira 2012)",
    "Compares the player's gains with the engine's: the share of moves that keep up with it becomes a difference, which is added to the engine's own rating.",
    "It is an index on its own scale. It ranks players, but its distances are no Elo distances: over a whole open it spreads 1,000 Elo on some 80 points.",
  ],
  a2: [
    "Algorithm 2 (Ferreira 2012)",
    "One rating for each player that explains all comparisons between the players of the event best, with the mean of the rated players kept. Players who are linked by no game cannot be compared.",
  ],
  expected: [
    "Expected score against the engine",
    "How many points these moves would score against the engine's own, move against move: 1 for better, \u00bd for equal. 0.5 is the engine itself.",
  ],
  accuracy: [
    "Accuracy",
    "Lichess's published formula: how much of the winning chances each move kept, as a percentage. In italics while not every move is scored yet.",
  ],
  loss: [
    "Average centipawn loss",
    "How much worse than the engine's choice a move is on average, in hundredths of a pawn, with scores capped at ten pawns. Smaller is better.",
  ],
  first: [
    "First choice",
    "The share of moves that were the engine's own first choice, from move 9 on, forced moves and decided positions left out (after Regan and Haworth 2011).",
  ],
  conformance: [
    "Conformance (Alliot 2017)",
    "The share of moves that fall at most 30 centipawns short of the engine's, from move 10 on, forced moves left out.",
  ],
  guid: [
    "Guid-Bratko",
    "As conformance, within 20 centipawns, and only where neither side is more than two pawns ahead.",
  ],
  ponderated: [
    "Ponderated conformance (Alliot 2017)",
    "As conformance, but what a move loses counts less the more the game is decided anyway.",
  ],
  intrinsic: [
    "Intrinsic rating (Regan and Haworth 2011)",
    "The Elo whose players would most probably have chosen these moves among the engine's best lines. It needs the engine to show several lines (Multi-PV).",
  ],
  gain: [
    "Gain",
    "What a move won or lost, in hundredths of a pawn. By default it is the score of the move played minus that of the engine's first choice in the same position: 0 for the first choice, never above.",
  ],
  markov: [
    "Markov predictor (Alliot 2017)",
    "A model of how a player's positions change from move to move. It needs 500 moves of a player before it says anything; the column counts them.",
  ],
  elo: ["Elo", "The rating that the source gives, before this event."],
  moves: ["Moves", "How many moves the figures rest on."],
  points: ["Points", "Points of this event's finished games, as their results say. Byes are not in it."],
  games: ["Games", "How many games of this event the figures rest on."],
  headToHead: [
    "Head to head",
    "What White is expected to score against Black. By these moves: Algorithm 1 (Ferreira 2012) compares the gains of both players directly. By conformance (Alliot 2017): from how often both keep within 30 centipawns of the engine. By Elo: what their ratings said before the game.",
  ],
  score: [
    "Score",
    "The engine's evaluation from White's side in pawns, and beside it a bar of the same score. #5 is mate in five. What these two players are likely to make of it stands apart, in words.",
  ],
  curves: [
    "Move by move",
    "Each line is the figure after that many moves (which one stands below), the band around it its 95 % interval. Percentiles have no band, since they are counted and not estimated; where 8 of 10 usual games lie is shaded. The dashed lines are the players' own Elo ratings.",
  ],
  histogram: [
    "Gains",
    "How many of each player's moves lost how much against the engine's choice, beside the engine's own. This is all that Algorithms 1 to 4 look at.",
  ],
  complexity: [
    "Complexity (Alliot 2017, section 3.1)",
    "How much the engine changed its mind while it searched the position after each move: the mean change of its score from one depth to the next. High bars are positions that are hard to judge, for people most of all.",
  ],
  clocks: ["Clocks", "Time left on both clocks after each move, as the source gives it."],
  agreement: [
    "Screening figures",
    "How often a player chose the engine's move, against what players of that rating do. It says where a closer look may be worth it, and accuses nobody. With many boards some are far out by chance alone: the share of honest events that show such an alert stands beside it.",
  ],
  engine: [
    "The engine's rating",
    "Algorithm 4 adds a player's difference to the engine's rating. From the field means: measured over this event, so that perceived ratings agree with actual ones on average.",
  ],
};

let dialog = null;

/** Shows an explanation; it closes by Escape, its button, or a click beside it. */
export function explain(name) {
  const [title, ...paragraphs] = WORDS[name];
  const nodes = paragraphs.map((text) => element("p", "", text));
  if (name === "overview") {
    const manual = element("a", "", "The manual says more.");
    manual.href = "manual/";
    nodes.push(element("p", "", "", manual));
  }
  show(title, nodes);
}

/** Shows a dialog of our own text. */
export function show(title, nodes) {
  if (dialog === null) {
    dialog = element("dialog", "explanation");
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
  }
  const close = element("button", "plain", "Close");
  close.type = "button";
  close.addEventListener("click", () => dialog.close());
  const heading = element("h2", "", title);
  heading.id = "explanation-title";
  dialog.setAttribute("aria-labelledby", heading.id);
  dialog.replaceChildren(heading, ...nodes, close);
  if (!dialog.open) dialog.showModal();
}

/** A small button that explains what stands beside it. */
export function explainButton(name) {
  const button = element("button", "why", "?");
  button.type = "button";
  button.setAttribute("aria-label", `What is this: ${WORDS[name][0]}`);
  button.addEventListener("click", () => explain(name));
  return button;
}
