/** Figures of papers, drawn again from results.jsonl. */
import { samplers } from "../claims/samplers.ts";
import { trainedArms } from "../claims/arms.ts";
import { finalScore, scoreAt } from "../curve.ts";
import { evidence, latest, type Point, type Result } from "../result.ts";
import { valueOf, type Figure, type Panel, type Series } from "./figure.ts";

interface Line {
  readonly side: string;
  readonly label: string;
}
type Made = (results: readonly Result[]) => Figure | undefined;

const realOf = (results: readonly Result[], side: string): Result[] =>
  latest(evidence(results)).filter((one) => one.kind === "real" && one.side === side);

/** Seeds that all sides have. */
const sharedSeeds = ([first = [], ...others]: readonly (readonly Result[])[]): number[] =>
  first
    .map(({ seed }) => seed)
    .filter((seed) => others.every((other) => other.some((one) => one.seed === seed)));

const points = ({ points: own }: Result): readonly Point[] => own;

/** One line a side: the mean over the seeds that all sides have. */
function courses(results: readonly Result[], lines: readonly Line[], of: (point: Point) => number): Series[] {
  const runs = lines.map(({ side }) => realOf(results, side));
  const shared = sharedSeeds(runs);
  return lines.map(({ label }, i) => {
    const own = runs[i]!.filter(({ seed }) => shared.includes(seed));
    const steps = own[0]?.points.map(({ step }) => step) ?? [];
    return {
      label,
      values: steps.map((step, at) =>
        valueOf(
          step,
          own.map((one) => of(points(one)[at]!)),
        ),
      ),
    };
  });
}

interface Course {
  readonly name: string;
  readonly title: string;
  readonly after: string;
  readonly lines: readonly Line[];
  /** A panel each; without: one panel, the mean over `arms`. */
  readonly byArm?: readonly string[];
  readonly arms?: readonly string[];
}

const letters = (arm: string): string => `${arm} letters`;

const course =
  ({ name, title, after, lines, byArm, arms }: Course): Made =>
  (results) => {
    const panels: Panel[] =
      byArm === undefined
        ? [{ title: "", series: courses(results, lines, (point) => scoreAt(point, arms)) }]
        : byArm.map((arm) => ({
            title: letters(arm),
            series: courses(results, lines, (point) => scoreAt(point, [arm])),
          }));
    if (panels.some(({ series }) => series.some(({ values }) => values.length === 0))) return undefined;
    return {
      kind: "lines",
      name,
      title,
      after,
      x: "updates",
      y: "held-out pass@1",
      scale: "linear",
      panels,
    };
  };

const sec: Course = {
  name: "sec",
  title: "SEC and uniform draws, level by level; twelve letters never train",
  after: "Self-Evolving Curriculum, its test accuracy by difficulty over training",
  lines: [
    { side: "sec", label: "SEC" },
    { side: "uniform", label: "uniform" },
  ],
  byArm: [...trainedArms, "twelve"],
};
const dump: Course = {
  name: "dump",
  title: "DUMP and uniform draws, source by source",
  after: "DUMP, its test curves by source over training",
  lines: [
    { side: "dump", label: "DUMP" },
    { side: "uniform", label: "uniform" },
  ],
  byArm: trainedArms,
};
const balanced: Course = {
  name: "balanced-filtering",
  title: "Balanced filtering and plain GRPO",
  after: "Online Difficulty Filtering, its accuracy over training steps",
  lines: [
    { side: "balanced", label: "balanced filtering" },
    { side: "uniform", label: "plain GRPO" },
  ],
  arms: trainedArms,
};
const gain: Course = {
  name: "gain-rl",
  title: "GAIN-RL and uniform draws of the same prompts",
  after: "Angles Don't Lie, its accuracy over training",
  lines: [
    { side: "gain", label: "GAIN-RL" },
    { side: "pool", label: "uniform" },
  ],
  arms: trainedArms,
};
const ghpo: Course = {
  name: "ghpo",
  title: "GHPO and GRPO on tasks that mostly fail, asked without help",
  after: "GHPO, its accuracy over training",
  lines: [
    { side: "ghpo", label: "GHPO" },
    { side: "hard", label: "GRPO" },
  ],
  arms: ["twelve"],
};

const kinds = [1, 2, 4, 8, 16, 32, 64] as const;
const policies: readonly (Line & { readonly at: "first" | "last" })[] = [
  { side: "wide", label: "before", at: "first" },
  { side: "wide", label: "GRPO", at: "last" },
  { side: "nsr", label: "NSR", at: "last" },
  { side: "psr", label: "PSR", at: "last" },
  { side: "passkTraining", label: "pass@k training", at: "last" },
];
/** Sides of which no seed has ended are left out. */
const passAtK: Made = (results) => {
  const panelOf = (arm: string): Panel => ({
    title: letters(arm),
    series: policies.flatMap(({ side, label, at }) => {
      const runs = realOf(results, side);
      const passed = (one: Result, k: number): number =>
        one.points.at(at === "first" ? 0 : -1)!.pass?.[arm]?.[k] ?? Number.NaN;
      return runs.length === 0
        ? []
        : [
            {
              label,
              values: kinds.map((k) =>
                valueOf(
                  k,
                  runs.map((one) => passed(one, k)),
                ),
              ),
            },
          ];
    }),
  });
  if (realOf(results, "nsr").length === 0) return undefined;
  return {
    kind: "lines",
    name: "nsr",
    title: "pass@k after training, by what is pushed",
    after: "The Surprising Effectiveness of Negative Reinforcement, its pass@k curves",
    x: "k",
    y: "held-out pass@k",
    scale: "doubling",
    panels: ["eight", "ten", "twelve"].map(panelOf),
  };
};

const sevenSamplers: Made = (results) => {
  const sides = [{ name: "uniform", label: "naive" }, ...samplers.map(({ own }) => own)];
  const runs = sides.map(({ name }) => realOf(results, name));
  const shared = sharedSeeds(runs);
  if (shared.length === 0) return undefined;
  const bars = sides.map(({ label }, i) => {
    const own = runs[i]!.filter(({ seed }) => shared.includes(seed));
    return {
      label,
      value: valueOf(
        0,
        own.map((one) => finalScore(one, trainedArms)),
      ),
    };
  });
  return {
    kind: "bars",
    name: "samplers",
    title: "Seven samplers, the same updates",
    after: "marin-community/marin#8765, its final scores",
    y: "held-out pass@1 at the end (bars: mean, whiskers: 95 % over seeds)",
    bars,
  };
};

const made: Readonly<Record<string, Made>> = {
  ...Object.fromEntries([sec, dump, balanced, gain, ghpo].map((one) => [one.name, course(one)])),
  nsr: passAtK,
  samplers: sevenSamplers,
};
export const figureNames: readonly string[] = Object.keys(made);

/** @returns undefined: the runs that it draws are not there yet */
export const figureOf = (name: string, results: readonly Result[]): Figure | undefined =>
  made[name]?.(results);
