/** What the figures mean, in plain words, one click away from each of them. */

import { element } from "../drawing/elements.js";

/** Title, then paragraphs. */
export const WORDS = {
  overview: [
    "What do the numbers mean?",
    "Every move is compared with what the engine would have played. From how often and how closely a player keeps up with it follows a perceived rating: how strong the play looks, not how strong the player is.",
    "One game says little. The interval beside a rating holds the true value in 95 of 100 cases; after a few moves it is very wide, because the truth is.",
    "\u25bc and \u25b2 stand for a rating without lower or upper bound: so far every move, or none, fell short of the engine. No number is made up for them. Figures with \u2026 or in italics are provisional: the engine is still searching.",
    "A high rating is no evidence of anything but good moves. It accuses nobody.",
  ],
  calibrated: [
    "Plays like",
    "The rating of players whose moves look like these. It was learned from rated games and is on the Elo scale; where it says transferred, with another engine or limit, whose scores are compared with these on reference positions.",
    "The interval beside it holds the true value in 95 of 100 cases. After forty moves it still spans about 500 Elo to either side.",
  ],
  form: [
    "Form",
    "How far above or below their own rating these moves are. It starts from the player's own Elo and lets the moves speak against it, so it moves carefully.",
  ],
  a4: [
    "Algorithm 4 (Ferreira 2012)",
    "Compares the player's gains with the engine's: the share of moves that keep up with it becomes a difference in Elo, which is added to the engine's own rating.",
    "It ranks players faithfully, but its distances are too small to be Elo distances: over a whole open it spreads 1,000 Elo on some 80 points.",
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
  elo: ["Elo", "The rating the source tells, before this event."],
  moves: ["Moves", "How many moves the figures rest on."],
  games: ["Games", "How many games of this event the figures rest on."],
  headToHead: [
    "Head to head",
    "What White is expected to score against Black. By these moves: Algorithm 1 (Ferreira 2012) compares the gains of both players directly. By conformance (Alliot 2017): from how often both keep within 30 centipawns of the engine. By Elo: what their ratings said before the game.",
  ],
  score: [
    "Score",
    "The engine's evaluation from White's side in pawns, drawn as chances: the middle is equal, the top is won for White. #5 is mate in five.",
  ],
  curves: [
    "Perceived ratings, move by move",
    "Each line is the rating after that many moves, the band around it its 95 % interval. The dashed lines are the players' own Elo ratings.",
  ],
  histogram: [
    "Gains",
    "How many of each player's moves lost how much against the engine's choice, beside the engine's own. This is all that Algorithms 1 to 4 look at.",
  ],
  complexity: [
    "Complexity (Alliot 2017, section 3.1)",
    "How much the engine changed its mind while it searched the position after each move: the mean change of its score from one depth to the next. High bars are positions that are hard to judge, for people most of all.",
  ],
  clocks: ["Clocks", "Time left on both clocks after each move, as the source tells it."],
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
  show(title, paragraphs.map((text) => element("p", "", text)));
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
