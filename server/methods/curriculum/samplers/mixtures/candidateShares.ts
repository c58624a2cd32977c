/**
 * The chance of each arm to be drawn next, where some candidates are compared and the one nearest to a band is taken:
 * counted out where each arm's number is known, integrated where it is imagined from a Beta distribution.
 */
import { randomStream } from "../../../../lib/random.ts";
import type { Clock } from "../../../../core/basics.ts";
import { ranked } from "../../../../lib/ordering.ts";
import type { Known, Sampler } from "../../../../core/slots/curriculum.ts";
import { betaShares, type Belief, type Draw } from "../betaShares.ts";
import { valueOf } from "../columns.ts";

/** What lies between them costs nothing, all else its distance. */
export interface Band {
  readonly low: number;
  readonly high: number;
}

interface Comparing {
  readonly draw: Sampler["draw"];
  /** Candidates for each arm that is drawn. */
  readonly pool: number;
  readonly band: (clock: Clock) => Band;
  /** Cost of an arm of which nothing is known; default: it is not taken. */
  readonly unknown?: number;
  /** Whether arms are compared by draws from their posterior, where there is one; default: they are. */
  readonly imagined?: boolean;
}

const draws = 1000;

export function candidateShares(
  comparing: Comparing,
): Required<Pick<Sampler, "probabilities" | "simulated">> {
  const { imagined = true, draw } = comparing;
  let simulated = 0;
  return {
    probabilities: (known, clock) => {
      const exact =
        imagined && known.posterior !== undefined
          ? integrated(comparing, known, clock)
          : countedOut(comparing, known, clock);
      simulated = exact === undefined ? draws : 0;
      return exact ?? simulatedShares(draw, known, clock);
    },
    simulated: () => simulated,
  };
}

const openArms = ({ size, open }: Known): number[] =>
  Array.from({ length: size }, (_, arm) => arm).filter((arm) => open(arm));

function drawOf({ pool, band }: Comparing, known: Known, clock: Clock, open: number): Draw {
  const candidates = Math.ceil(pool);
  return {
    ...band(clock),
    candidates: known.once ? Math.min(candidates, open) : candidates,
    once: known.once,
  };
}

/**
 * Arms in the order of their costs: one comes first where no candidate is before it, and of equal ones, which stand among
 * the candidates in any order, each as often.
 */
function countedOut(comparing: Comparing, known: Known, clock: Clock): Float64Array {
  const arms = openArms(known);
  const draw = drawOf(comparing, known, clock, arms.length);
  const { unknown = Number.NaN } = comparing;
  const costs = Float64Array.from(arms, (arm) => {
    const value = valueOf(known, arm);
    return Number.isNaN(value) ? unknown : Math.max(0, draw.low - value, value - draw.high);
  });
  const order = ranked(costs);
  const noneBefore = chanceOfNone(arms.length, draw);
  const found = new Float64Array(known.size);
  for (let from = 0; from < order.length;) {
    const cost = costs[order[from]!]!;
    let to = from;
    while (to < order.length && costs[order[to]!] === cost) to++;
    if (to === from) break;
    const each = (noneBefore[from]! - noneBefore[to]!) / (to - from);
    for (let at = from; at < to; at++) found[arms[order[at]!]!] = each;
    from = to;
  }
  return found;
}

/** By k: that none of the candidates is one of k of the arms. */
function chanceOfNone(arms: number, { candidates, once }: Draw): Float64Array {
  const none = new Float64Array(arms + 1);
  none[0] = 1;
  for (let k = 1; k <= arms; k++)
    none[k] = once
      ? (none[k - 1]! * Math.max(0, arms - k + 1 - candidates)) / (arms - k + 1)
      : (1 - k / arms) ** candidates;
  return none;
}

/** undefined: the beliefs have another form, or are too many. */
function integrated(comparing: Comparing, known: Known, clock: Clock): Float64Array | undefined {
  const { shapes } = known;
  if (shapes === undefined) return undefined;
  const alike = new Map<string, { readonly belief: Belief; readonly members: number[] }>();
  const arms = openArms(known);
  const found = new Float64Array(known.size);
  if (arms.length === 0) return found;
  for (const arm of arms) {
    const [a, b] = shapes(arm);
    const key = `${a} ${b}`;
    const others = alike.get(key);
    if (others === undefined) alike.set(key, { belief: { a, b, arms: 0 }, members: [arm] });
    else others.members.push(arm);
  }
  const groups = [...alike.values()];
  const each = betaShares(
    groups.map(({ belief, members }) => ({ ...belief, arms: members.length })),
    drawOf(comparing, known, clock, arms.length),
  );
  if (each === undefined) return undefined;
  groups.forEach(({ members }, of) => {
    for (const arm of members) found[arm] = each[of]!;
  });
  return found;
}

/** By drawing one arm a thousand times from a stream of its own. */
function simulatedShares(draw: Sampler["draw"], known: Known, clock: Clock): Float64Array {
  const shares = new Float64Array(known.size);
  for (let i = 0; i < draws; i++)
    for (const arm of draw(known, 1, randomStream("shares", clock.step, i), clock, []))
      shares[arm]! += 1 / draws;
  return shares;
}
