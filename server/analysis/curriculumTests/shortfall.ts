/** Whether simulated steps are as a test expects, and if not, what is wrong in one sentence. */
import { formatFraction, formatNumber } from "../../../shared/lib/format.ts";
import { mean } from "../../../shared/lib/mean.ts";
import { betterOf, type CurriculumExpectation } from "./format.ts";
import type { Draw, TracedStep } from "./traces.ts";

export interface Shortfall {
  /** From 1: the last step that the value is over. */
  readonly step: number;
  /** null: there is none. */
  readonly found: number | null;
  readonly message: string;
}

/** Steps from 1, both included. */
interface Window {
  readonly first: number;
  readonly last: number;
}

/** As conditions of stages: ten values, one of an evaluation. */
const defaultWindow = ({ metric }: CurriculumExpectation): number => (metric?.startsWith("eval/") ? 1 : 10);

/** Those that an expectation is about, each inside the steps after `after`. */
function windowsOf(expect: CurriculumExpectation, steps: number): Window[] {
  const { always, after } = expect;
  const begin = (after ?? 0) + 1;
  if (begin > steps) return [];
  const length = Math.min(expect.window ?? defaultWindow(expect), steps - begin + 1);
  const ends = Array.from({ length: steps - begin - length + 2 }, (_, i) => begin + length - 1 + i);
  const wanted = always === true || after !== undefined ? ends : ends.slice(-1);
  return wanted.map((last) => ({ first: last - length + 1, last }));
}

const within = (value: number, [low, high]: readonly [number, number] = [-Infinity, Infinity]): boolean =>
  low <= value && value <= high;

const isMeant = ({ share_of: of }: CurriculumExpectation, { level, chance }: Draw): boolean =>
  within(level, of?.level) && within(chance, of?.success);

function valueOf(expect: CurriculumExpectation, { metrics, draws }: TracedStep): number | undefined {
  if (expect.metric !== undefined) return metrics[expect.metric];
  if (draws.length === 0) return undefined;
  return draws.filter((draw) => isMeant(expect, draw)).length / draws.length;
}

const inWindow = (trace: readonly TracedStep[], { first, last }: Window): readonly TracedStep[] =>
  trace.slice(first - 1, last);

/** null: no step of it has a value. */
function meanOf(expect: CurriculumExpectation, steps: readonly TracedStep[]): number | null {
  const values = steps.flatMap((step) => valueOf(expect, step) ?? []);
  return values.length === 0 ? null : mean(values);
}

/** @param uniform the same learner under uniform sampling, where the curriculum must beat it */
export function shortfallOf(
  expect: CurriculumExpectation,
  trace: readonly TracedStep[],
  uniform: readonly TracedStep[] = [],
): Shortfall | undefined {
  const windows = windowsOf(expect, trace.length);
  if (windows.length === 0) {
    const message = `there is no step after ${expect.after}: the test ends with step ${trace.length}`;
    return { step: trace.length, found: null, message };
  }
  for (const window of windows) {
    const steps = inWindow(trace, window);
    const found = meanOf(expect, steps);
    const rival = meanOf(expect, inWindow(uniform, window));
    const wrong = found === null ? "has no value" : wrongIn(expect, found, rival);
    if (wrong === undefined) continue;
    const what = wrong.replace("@", whenText(window));
    const message = `${subjectText(expect)} ${what}${drawnText(expect, steps, found)}`;
    return { step: window.last, found, message };
  }
  return undefined;
}

/** `@` is where the time goes. */
function wrongIn(
  { at_least: least, at_most: most, beats, metric }: CurriculumExpectation,
  found: number,
  rival: number | null,
): string | undefined {
  if (least !== undefined && found < least) return `is ${unlike(least, found)} @, below ${least}`;
  if (most !== undefined && found > most) return `is ${unlike(most, found)} @, above ${most}`;
  if (beats === undefined || metric === undefined || rival === null) return undefined;
  const lower = betterOf(metric) === "lower";
  if (lower ? found < rival : found > rival) return undefined;
  return `is ${formatNumber(found)} @, not ${lower ? "below" : "above"} the ${formatNumber(rival)} of uniform sampling`;
}

/** With as many digits as tell it from the bound. */
const unlike = (bound: number, found: number): string => {
  const text = formatNumber(found);
  return Number(text) === bound ? String(found) : text;
};

const whenText = ({ first, last }: Window): string =>
  first === last ? `in step ${last}` : `over steps ${first} to ${last}`;

function subjectText({ metric, share_of: of }: CurriculumExpectation): string {
  if (metric !== undefined) return `\`${metric}\``;
  const success = of?.success && `solved at ${rangeText(of.success, formatFraction)}`;
  const level = of?.level && `of level ${rangeText(of.level, String)}`;
  return `the share of tasks ${[level, success].filter((part) => part !== undefined).join(" ")}`;
}

const rangeText = ([low, high]: readonly [number, number], text: (value: number) => string): string =>
  low === high ? text(low) : `${text(low)} to ${text(high)}`;

/** Which level it is due to: of a share that is too large its own, else whatever was drawn most. */
function drawnText(
  expect: CurriculumExpectation,
  steps: readonly TracedStep[],
  found: number | null,
): string {
  const all = steps.flatMap(({ draws }) => draws);
  const tooMany = expect.share_of !== undefined && expect.at_most !== undefined && found! > expect.at_most;
  const some = tooMany ? all.filter((draw) => isMeant(expect, draw)) : all;
  const levels = new Map<number, Draw[]>();
  for (const draw of some) levels.set(draw.level, [...(levels.get(draw.level) ?? []), draw]);
  const [level, draws] = [...levels].sort(([, a], [, b]) => b.length - a.length)[0] ?? [];
  if (draws === undefined) return ": nothing was drawn";
  const share = formatFraction(draws.length / all.length);
  const chance = formatFraction(mean(draws.map((draw) => draw.chance)));
  return tooMany
    ? `: most of these are of level ${level} (${share} of the groups, solved at ${chance})`
    : `: level ${level} is drawn most (${share} of the groups, solved at ${chance})`;
}
