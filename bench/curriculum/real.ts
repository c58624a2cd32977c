/** One side, one seed, by training the tiny model through the product. */
import { loadavg } from "node:os";
import { version } from "../../package.json";
import { mean } from "../../shared/lib/mean.ts";
import { command, run, type Line } from "./gradus.ts";
import { machine } from "./machine.ts";
import { pool } from "./pool.ts";
import type { Point, Result } from "./result.ts";
import { configOfSide, sideFile, sideFingerprint, warmUpFingerprint } from "./settings.ts";
import { warmedUp } from "./warmUps.ts";

/** Sides whose method was fixed since: the same settings mean something else from that day on. */
const mended: Readonly<Record<string, string>> = {
  pcl: "2026-11-23: what the value model guesses stays within what was earned",
};

export const realFingerprint = (side: string): string => {
  const since = mended[side];
  return sideFingerprint(side, since === undefined ? warmUpFingerprint() : [warmUpFingerprint(), since]);
};

/** Adds up what the lines of a run say. */
export class Tally {
  readonly points: Point[] = [];
  readonly groups = { drawn: 0, admitted: 0, mixed: 0 };
  readonly time = { choose: 0, generate: 0 };
  seconds = 0;
  private readonly spent = { step: 0, rollouts: 0, written: 0, trained: 0 };
  private group = 0;
  private entropies: number[] = [];

  /** @param groupOf rollouts of a group by the stage's name */
  constructor(private readonly groupOf: ReadonlyMap<string, number>) {}

  take(line: Line): void {
    if (line.type === "stage") this.group = this.groupOf.get(line.name) ?? 0;
    if (line.type === "step") this.step(line.metrics);
    if (line.type === "evaluation") this.evaluated(line.metrics);
    if (line.type === "summary") this.seconds = line.seconds;
  }
  private evaluated(metrics: Readonly<Record<string, number | null>>): void {
    const pass = passOf(metrics);
    this.points.push({
      ...this.spent,
      arms: armsOf(metrics),
      ...(Object.values(pass).some((byK) => Object.keys(byK).length > 1) && { pass }),
      ...(this.entropies.length > 0 && { entropy: round(mean(this.entropies)) }),
    });
    this.entropies = [];
  }
  private step(metrics: Readonly<Record<string, number | null>>): void {
    const entropy = metrics["policy/entropy"];
    if (typeof entropy === "number") this.entropies.push(entropy);
    const of = (name: string): number => metrics[name] ?? 0;
    const [drawn, admitted] = [of("groups/drawn"), of("groups/admitted")];
    this.spent.step += 1;
    const [kept, replaced] = [of("tokens/generated"), of("guidance/extra_tokens")];
    // Of rollouts that guidance replaced only the tokens are known: they count as rollouts of the usual length.
    this.spent.rollouts += Math.round(drawn * this.group * (1 + (kept > 0 ? replaced / kept : 0)));
    this.spent.written += kept + replaced;
    this.spent.trained += of("tokens/trained");
    this.groups.drawn += drawn;
    this.groups.admitted += admitted;
    this.groups.mixed += Math.min(admitted, Math.round(drawn * of("groups/mixed")));
    this.time.choose += of("time/choose");
    this.time.generate += of("time/generate");
  }
}

/** Arm by arm and k by k: `eval/four/4/pass@1`, or `eval/four/pass@1` where each task is one arm. */
function passOf(metrics: Readonly<Record<string, number | null>>): Record<string, Record<string, number>> {
  const found: Record<string, Record<string, number>> = {};
  for (const [name, value] of Object.entries(metrics)) {
    const [, arm, k] = /^eval\/(\w+)(?:\/\w+)?\/pass@(\d+)$/.exec(name) ?? [];
    if (arm === undefined || k === undefined || value === null) continue;
    found[arm] = { ...found[arm], [k]: Number(value.toFixed(4)) };
  }
  return found;
}

const armsOf = (metrics: Readonly<Record<string, number | null>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(passOf(metrics)).flatMap(([arm, { 1: first }]) =>
      first === undefined ? [] : [[arm, first]],
    ),
  );

/** What the cache gives to a side. */
async function given(side: string, seed: number, store: string): Promise<string[]> {
  const model = await warmedUp(seed, store);
  const set = [`model.base=${model}`];
  if (side === "pcl") set.push(`models.value.base=${model}`);
  if (side === "gain" || side === "pool") set.push(`stages.practice.tasks.pool.dataset=${pool(seed)}`);
  return set;
}

/** @throws Error where the run does not finish, or its data cannot be made */
export async function realRun(side: string, seed: number, store: string): Promise<Result> {
  const set = await given(side, seed, store);
  const { stages } = configOfSide(side, set);
  const tally = new Tally(new Map(stages.map(({ name, body }) => [name, body.rollout.group])));
  let id = "";
  for await (const line of run({ file: sideFile(side), seed, store, set })) {
    if (line.type === "started") id = line.run;
    tally.take(line);
  }
  await command("runs", "delete", id, "--store", store, "--json");
  const { points, groups, time, seconds } = tally;
  if (points.some(({ arms }) => Object.keys(arms).length === 0))
    throw new Error(`${side}, seed ${seed}: an evaluation names no arm`);
  return {
    ...{ kind: "real", side, seed, fingerprint: realFingerprint(side) },
    ...{
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      version,
      seconds: Math.round(seconds),
    },
    load: round(loadavg()[0]!),
    ...{ groups, time: { choose: round(time.choose), generate: round(time.generate) }, points },
  };
}
const round = (value: number): number => Number(value.toFixed(3));
