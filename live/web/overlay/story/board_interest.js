/** Which board tells the story now, and which moment is shown. Pure: the time comes in. */

/** After so long a moment interests half as much. */
const HALF_LIFE_MS = 90_000;
/** Another board must interest by so much more, or the picture would jump. */
const MORE = 0.15;

/** Of so many moments it is known that they were seen. */
const KNOWN = 1_000;

/**
 * When each moment was first seen here. What was there when the page opened is old, and so is what
 * nobody saw happen; what was withdrawn and is told again is as old as it was.
 */
export class MomentAges {
  constructor() {
    this._seen = null;
  }

  /** Takes note of the moments there are. */
  note(moments, now) {
    const first = this._seen === null;
    this._seen ??= new Map();
    for (const { id, at_s: atS } of moments) {
      if (first || atS === null) this._seen.set(id, -Infinity);
      else if (!this._seen.has(id)) this._seen.set(id, now);
    }
    for (const id of this._seen.keys()) {
      if (this._seen.size <= KNOWN) break;
      this._seen.delete(id);
    }
  }

  /** How long a moment has been seen, milliseconds. */
  age(moment, now) {
    return now - (this._seen?.get(moment.id) ?? -Infinity);
  }
}

/** Which game interests most, by its most interesting moment. */
export class Story {
  constructor() {
    this._ages = new MomentAges();
    this._interests = new Map();
  }

  note(moments, now) {
    this._ages.note(moments, now);
    this._interests = new Map();
    for (const moment of moments) {
      const interest = moment.weight * 0.5 ** (this._ages.age(moment, now) / HALF_LIFE_MS);
      this._interests.set(moment.game, Math.max(this._interests.get(moment.game) ?? 0, interest));
    }
  }

  /** The game that interests most, or null; `current` stays unless another does clearly more. */
  best(games, current) {
    const interest = (game) => this._interests.get(game.id) ?? 0;
    const best = games.reduce((a, b) => (interest(b) > interest(a) ? b : a));
    if (interest(best) <= 0) return null;
    return current && interest(best) < interest(current) + MORE ? current : best;
  }
}

/** The moment to show: the newest that is younger than `holdMs`, or any where `always`; or null. */
export function shownMoment(moments, games, ages, now, { holdMs, always }) {
  const ids = new Set(games.map(({ id }) => id));
  const chosen = moments.filter(({ game }) => ids.has(game));
  const young = chosen.filter((moment) => ages.age(moment, now) < holdMs);
  const newest = (list) =>
    list.reduce((a, b) => {
      if (a === null) return b;
      const [one, two] = [ages.age(a, now), ages.age(b, now)];
      if (one !== two) return two < one ? b : a;
      return (b.at_s ?? 0) > (a.at_s ?? 0) || ((b.at_s ?? 0) === (a.at_s ?? 0) && b.weight > a.weight) ? b : a;
    }, null);
  return newest(young) ?? (always ? newest(chosen) : null);
}
