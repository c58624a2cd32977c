/** How panels are looked at: four themes, three widths, few and many runs, short and long ones, and what is on the page. */
import { compareRuns, type RunFacts } from "../../server/analysis/compare/compare.ts";
import { compareVersion, type ToCompare } from "../../shared/editor/comparePanel.ts";
import { panelVersion, type ToPanel } from "../../shared/editor/runPanel.ts";
import type { JsonObject } from "../../shared/lib/json.ts";
import type { Series } from "../../shared/protocol/protocol.ts";
import type { Verdict } from "../../shared/run/verdict.ts";
import { evaluated, runAt } from "./fakeRun.ts";
import { answered, noiseAt, type Recorded } from "./longRun.ts";
import { numberStream } from "./random.ts";
import type { ThemeFixture } from "./themes.ts";

export interface Look {
  readonly theme: ThemeFixture["name"];
  readonly width: 300 | 900 | 1600;
  readonly runs: 3 | 200;
  readonly points: 100 | 5_000 | 1_000_000;
}
const look = (
  theme: Look["theme"],
  width: Look["width"],
  runs: Look["runs"],
  points: Look["points"],
): Look => ({ theme, width, runs, points });

/** Each two levels of different columns meet in a row: twelve is the least that four themes at three widths allow. */
export const looks: readonly Look[] = [
  look("dark", 300, 3, 100),
  look("dark", 900, 200, 5_000),
  look("dark", 1600, 3, 1_000_000),
  look("light", 300, 200, 5_000),
  look("light", 900, 3, 1_000_000),
  look("light", 1600, 200, 100),
  look("high-contrast", 300, 3, 1_000_000),
  look("high-contrast", 900, 200, 100),
  look("high-contrast", 1600, 3, 5_000),
  look("high-contrast-light", 1600, 200, 1_000_000),
  look("high-contrast-light", 900, 3, 5_000),
  look("high-contrast-light", 300, 200, 100),
];
export const nameOf = (at: number): string => {
  const { theme, width, runs, points } = looks[at]!;
  return `${String(at + 1).padStart(2, "0")}-${theme}-${width}-${runs}-${points}`;
};

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
/** From 0 to 1 over a run. */
const skillAt = (share: number): number => sigmoid((share - 0.4) * 9);
const arms = ["countdown/3", "countdown/4", "countdown/5"];

/** What a run records that learns at first, and whose answers shrink in its last third. */
function recorded(steps: number): Recorded {
  const share = (step: number): number => step / Math.max(1, steps - 1);
  const skill = (step: number): number => skillAt(share(step));
  const shrink = (step: number): number => sigmoid((share(step) - 0.8) * 25);
  const noise = (step: number, salt: number): number => noiseAt(step, salt) - 0.5;
  const right = (step: number): number => 0.04 + 0.3 * skill(step) + 0.05 * noise(step, 1);
  const wrong = (step: number): number =>
    0.5 - 0.35 * skill(step) + 0.25 * shrink(step) + 0.05 * noise(step, 2);
  const weights = (step: number): readonly number[] => {
    const all = [Math.exp(1.2 - 2.4 * skill(step)), 1, Math.exp(-1.4 + 2.6 * skill(step))];
    const total = all[0]! + all[1]! + all[2]!;
    return all.map((weight) => weight / total);
  };
  return {
    "reward/total": (step) => 0.22 + 0.4 * skill(step) + 0.08 * noise(step, 3),
    "reward/total/p10": (step) => 0.02 + 0.1 * skill(step),
    "reward/total/p90": (step) => 0.8 + 0.15 * skill(step),
    "reward/correct": (step) => 0.18 + 0.38 * skill(step) - 0.2 * shrink(step) + 0.06 * noise(step, 4),
    "reward/correct/weight": () => 1,
    "reward/brevity": (step) => 0.2 + 0.1 * skill(step) + 0.5 * shrink(step) + 0.02 * noise(step, 5),
    "reward/brevity/weight": () => 0.3,
    "rollout/count": () => 256,
    "rollout/scored": () => 256,
    "groups/all_right": right,
    "groups/all_wrong": wrong,
    "groups/mixed": (step) => 1 - right(step) - wrong(step),
    "groups/zero_advantage": (step) => right(step) + wrong(step),
    "groups/drawn": () => 32,
    "groups/admitted": (step) => Math.round(32 * (1 - right(step) - wrong(step))),
    "policy/entropy": (step) => 0.92 - 0.4 * skill(step) - 0.2 * shrink(step) + 0.06 * noise(step, 6),
    "rollout/length": (step) => 17 - skill(step) - 3 * shrink(step) + noise(step, 7),
    "rollout/truncated": (step) => Math.max(0, 0.09 - 0.08 * skill(step) + 0.02 * noise(step, 8)),
    "update/loss": (step) => (noiseAt(step, 9) - 0.5) * 8e-15,
    "update/grad_norm": (step) => 0.4 + 0.3 * noiseAt(step, 10),
    "update/clip_low": () => 0,
    "update/clip_high": () => 0,
    "update/clip_fraction": () => 0,
    "mismatch/k3": (step) => 1e-6 * (1 + noiseAt(step, 11)),
    "policy/kl/reference": (step) => 0.03 * skill(step) + 0.04 * shrink(step) + 0.002 * noiseAt(step, 12),
    ...Object.fromEntries(
      arms.map((arm, i) => [`curriculum/${arm}/share`, (step: number) => weights(step)[i]!]),
    ),
    "time/generate": (step) => 0.42 + 0.08 * noiseAt(step, 13),
    "time/update": (step) => 0.31 + 0.06 * noiseAt(step, 14),
    "time/total": (step) => 0.8 + 0.1 * noiseAt(step, 15),
    "tokens/generated": (step) => 256 * (17 - skill(step) - 3 * shrink(step)),
  };
}

/** Such a run as the panel is shown it. */
export function longRun(steps: number, verdict: Verdict): ToPanel {
  const last = steps - 1;
  // A million steps: round numbers, as people see them.
  const at = (share: number): number => Math.round(share * steps) - (share === 1 ? 1 : 0);
  const [begin, onset] = [at(0.25), at(0.75)];
  return {
    version: panelVersion,
    type: "show",
    run: {
      ...runAt(last, {
        steps,
        name: "countdown-long",
        endedAt: "2026-11-23T07:12:00.000Z",
        status: "finished",
        stage: "full",
      }),
      stages: [
        { step: 0, name: "easy", kind: "rl" },
        { step: begin, name: "full", kind: "rl" },
      ],
      checkpoints: Array.from({ length: 9 }, (_, i) => ({ step: at((i + 1) / 10) })),
      attempts: [{ attempt: 1, from: at(0.5) }],
    },
    series: answered(recorded(steps), 0, last),
    evaluations: Array.from({ length: 11 }, (_, i) => {
      const share = i / 10;
      const pass = 0.2 + 0.13 * skillAt(share) - (share > 0.75 ? 0.06 + 0.36 * (share - 0.75) : 0);
      return { step: at(share), role: "periodic", tasks: 128, ...evaluated(pass, pass + 0.08) };
    }),
    errors: 0,
    verdict: {
      ...verdict,
      since: onset,
      step: last,
      rollouts: verdict.rollouts.map((one) => ({ ...one, step: one.step < 384 ? onset : last })),
      timeline: [
        { state: "too early", label: "too early", since: null, from: 0, to: at(0.1) },
        { state: "learning", label: "learning", since: at(0.1), from: at(0.1) + 1, to: onset - 1 },
        { state: "hacking", label: "hacking `brevity`", since: onset, from: onset, to: last },
      ],
    },
  };
}

/** Learning rate and number of answers of what is tried, and where the reward ends. */
const tried = [
  { lr: 1e-5, group: 8, gain: 0.3 },
  { lr: 3e-6, group: 8, gain: 0.16 },
  { lr: 3e-5, group: 8, gain: 0.36 },
  { lr: 1e-4, group: 8, gain: 0.05 },
  { lr: 1e-5, group: 16, gain: 0.34 },
  { lr: 3e-6, group: 16, gain: 0.2 },
  { lr: 3e-5, group: 16, gain: 0.41 },
  { lr: 1e-4, group: 16, gain: 0.02 },
];
/** As a random search tries them: too high a rate does not learn. */
const randomTrials = (trials: number): typeof tried =>
  Array.from({ length: trials }, (_, at) => {
    const power = -6 + 3 * noiseAt(at, 21);
    const lr = Number((10 ** power).toPrecision(3));
    const group = 8 * 2 ** Math.floor(3 * noiseAt(at, 22));
    return { lr, group, gain: 0.4 * Math.exp(-((power + 4.4) ** 2)) + 0.02 * Math.log2(group / 8) };
  });
const heldOut = 64;
const buckets = 48;

function configOf(lr: number, group: number, seed: number): JsonObject {
  return {
    name: "sums",
    seed,
    tasks: [{ name: "countdown", env: "countdown", numbers: [3, 4] }],
    rollout: { prompts: 16, group, max_tokens: 48 },
    update: { optimizer: { use: "adamw", lr } },
    evaluation: { prompts: heldOut, pass_at: [1, 8] },
  };
}
const authored = (lr: number, group: number): string =>
  `name: sums\nrollout: { group: ${group} }\nupdate: { optimizer: { use: adamw, lr: ${lr} } }\n`;

/** A run in buckets, as the store answers the page that compares. */
function factsOf(at: number, { runs, points, alike = true }: Compared): RunFacts {
  const kinds = alike ? (runs < tried.length ? tried.slice(0, 2) : tried) : randomTrials(runs);
  const { lr, group, gain } = kinds[at % kinds.length]!;
  const seed = 1 + Math.floor(at / kinds.length);
  const noise = numberStream(1 + at);
  const luck = 0.04 * noise();
  const width = Math.max(1, Math.ceil(points / buckets));
  const ends = Array.from(
    { length: Math.ceil(points / width) },
    (_, i) => Math.min(points, (i + 1) * width) - 1,
  );
  const series = (metric: string, value: (share: number) => number, spread: number): Series => ({
    metric,
    width,
    begins: ends.map((_, i) => i * width),
    steps: ends,
    values: ends.map((end) => value(end / points) + (spread * noise()) / Math.sqrt(width)),
    counts: ends.map((end, i) => end - i * width + 1),
    total: points,
  });
  const learnt = (share: number): number => (gain + luck) * (1 - Math.exp(-4 * share));
  const right = Array.from({ length: heldOut }, (_, task) => {
    const chance = Math.min(0.95, Math.max(0, 0.5 * Math.sin(task) ** 2 + gain + luck - 0.1));
    return Array.from({ length: 8 }, () => (noise() + 1) / 2 < chance).filter(Boolean).length;
  });
  const share = (own: readonly number[]): number => own.reduce((sum, one) => sum + one / 8, 0) / own.length;
  const inArms = right.map((_, task) => (task % 2 === 0 ? "countdown/3" : "countdown/4"));
  return {
    id: `20261${120 + (at % 10)}-${String(100000 + 137 * at)}-${(0x1a2b + 977 * at).toString(16).slice(-4)}`,
    name: "sums",
    step: points - 1,
    config: configOf(lr, group, seed),
    authored: authored(lr, group),
    set: [`seed=${seed}`],
    sources: undefined,
    series: [
      series("reward/total", (done) => 0.12 + learnt(done), 0.08),
      series("groups/mixed", (done) => 0.35 + 0.5 * learnt(done), 0.1),
      series("rollout/length", (done) => 24 - 10 * learnt(done), 1.5),
      series("policy/entropy", (done) => 1.4 - 1.2 * learnt(done), 0.05),
    ],
    imported: false,
    last: {
      step: points - 1,
      role: "last",
      metrics: {
        "eval/pass@1": share(right),
        "eval/pass@8": right.filter((one) => one > 0).length / heldOut,
        "eval/countdown/3/pass@1": share(right.filter((_, task) => task % 2 === 0)),
        "eval/countdown/4/pass@1": share(right.filter((_, task) => task % 2 === 1)),
      },
      results: {
        tasks: right.map((_, task) => `task-${task}`),
        arms: inArms,
        samples: right.map(() => 8),
        right,
        greedy: right.map((one) => Number(one > 4)),
      },
    },
    prompts: heldOut,
  };
}

const metrics = ["reward/total", "groups/mixed", "rollout/length", "policy/entropy"];

interface Compared {
  readonly runs: number;
  readonly points: number;
  /** Whether runs are seeds of a few configs; else each has a config of its own. */
  readonly alike?: boolean;
}
/** Runs next to each other. */
export async function comparedRuns(compared: Compared): Promise<ToCompare> {
  const facts = Array.from({ length: compared.runs }, (_, at) => factsOf(at, compared));
  return { version: compareVersion, type: "comparison", comparison: await compareRuns(facts, metrics) };
}
export const comparedTasks = (other = 1): ToCompare => ({
  version: compareVersion,
  type: "tasks",
  other,
  pairs: Array.from({ length: 8 }, (_, task) => {
    const [one, two, three] = [2 + task, 3 + ((task * 5) % 7), 4 + ((task * 3) % 5)];
    return {
      key: `t#${task}`,
      prompt: `${one} ${two} ${three}=${one * two + three}:`,
      rewards: [1, task % 3 === 0 ? 1 : 0],
      responses: [
        `${one}*${two}+${three}`,
        task % 3 === 0 ? `${three}+${two}*${one}` : `${one}+${two}*${three}`,
      ],
    };
  }),
});
