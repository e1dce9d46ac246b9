/** How the builder asks for each option, in groups; `help` where the name says too little. */

export const GROUPS = [
  {
    title: "Layout",
    options: {
      layout: {
        label: "Layout",
        values: {
          board: "Board with everything",
          bar: "Lower third",
          curves: "Curves",
          grid: "Grid of boards",
          ticker: "Ticker",
          standings: "Players by the figure",
          table: "Standings by points",
          player: "Lower third of a player",
          duel: "Head to head",
          moment: "Moment card",
        },
      },
      boards: { label: "Boards at once", only: ["grid"], help: "More than that come page by page." },
      rows: { label: "Rows at once", only: ["standings", "table"] },
      page: { label: "Seconds a page", only: ["grid", "ticker", "standings", "table"] },
      at: { label: "Edge", only: ["bar", "ticker"], values: { bottom: "bottom", top: "top" } },
      lang: { label: "Language" },
    },
  },
  {
    title: "Which game",
    options: {
      follow: {
        label: "Follow",
        none: "as chosen below, else the top board",
        values: {
          top: "the top board still playing",
          closest: "the closest game",
          latest: "the latest move",
          story: "the story: whatever is worth telling",
        },
      },
      stay: { label: "at least", unit: "s", help: "How long the story stays with a board." },
      order: {
        label: "Order of boards",
        only: ["grid", "ticker"],
        values: { board: "board number", perceived: "highest figure first" },
      },
      board: { label: "Board number", help: "Several with commas. Stays from round to round." },
      player: { label: "Player", list: "players", help: "Full name or FIDE id." },
      event: { label: "Event", list: "events" },
      game: { label: "Game id", list: "games", help: "This one game and no other." },
      ply: { label: "After ply", help: "As the game stood then; nothing: as it stands." },
    },
  },
  {
    title: "Figures",
    options: {
      rating: {
        label: "Large figure",
        none: "as the service is set",
        values: { perceived: "playing like", algorithm4: "Algorithm 4 (as published)" },
      },
      provisional: { label: "Show provisional scores", help: "Marked with ~ while the engine searches." },
      hide: {
        label: "Leave out",
        values: {
          place: "round and board",
          title: "titles",
          flag: "federations",
          elo: "Elo",
          clock: "clocks",
          score: "score",
          move: "last move",
          rating: "figures",
          curves: "curves",
          diagram: "board",
        },
      },
      human: {
        label: "What others would play",
        only: ["board"],
        help: "Finds, traps, and how many players of this rating would have played it.",
      },
      show: {
        label: "Show besides",
        only: ["board"],
        values: {
          arrow: "arrow for a better move",
          coordinates: "coordinates",
          opening: "opening",
          material: "captured material",
        },
      },
      hold: { label: "Seconds a moment", only: ["moment"] },
      scoring: {
        label: "Scoring",
        only: ["table"],
        values: { "1-half-0": "1, ½, 0", "3-1-0": "3, 1, 0" },
      },
      ties: {
        label: "Tie-breaks",
        only: ["table"],
        ordered: true,
        help: "They count in the order in which they are ticked.",
        values: {
          direct: "direct encounter",
          wins: "wins",
          buchholz: "Buchholz",
          sonneborn: "Sonneborn-Berger",
          black: "games as Black",
        },
      },
      flags: { label: "Federations as", values: { code: "code (NOR)", emoji: "flag (not on Windows)" } },
      swing: { label: "Show swings of", unit: "pawns", help: "Within ±4 pawns; 0 shows none." },
      cooldown: { label: "then none for", unit: "s" },
      lost: {
        label: "While the source is lost",
        values: { freeze: "the last picture", notice: "and its age", hide: "nothing" },
      },
      delay: { label: "Delay", unit: "s", help: "Holds moves and figures back." },
    },
  },
  {
    title: "Look",
    options: {
      theme: {
        label: "Theme",
        values: { dark: "dark", light: "light", chroma: "chroma key", contrast: "high contrast" },
      },
      size: { label: "Size", help: "1 fills the source." },
      font: { label: "Font", help: "One that is installed where the picture is mixed." },
      text: { label: "Text" },
      ground: { label: "Ground" },
      white: { label: "White’s curve" },
      black: { label: "Black’s curve" },
      key: { label: "Key colour", themes: ["chroma"] },
      motion: { label: "Movement", help: "Whoever wants less motion in the system gets less anyway." },
    },
  },
];
