import { z } from "zod";
import { valueAt } from "../../../core/schedule.ts";
import { arms, param } from "../../../core/declaration.ts";
import type { Random } from "../../../lib/random.ts";
import type { Task } from "../../../core/task.ts";
import type { Knob } from "../../../core/slots/tasks.ts";
import type { Arm, Clock, Saved } from "../../../core/basics.ts";
import { NamedArms } from "../armSet.ts";
import { boxOf } from "./box.ts";
import { fromUnit } from "../points.ts";
import type { ArmSet } from "../../../core/slots/arms.ts";
import type { Division, SourceOf } from "../../../core/slots/curriculum.ts";

/** Points by number, named `<task>/<knob>=<value>,…`. */
class PointArms implements ArmSet {
  readonly points: (readonly number[])[] = [];
  private readonly named = new NamedArms([]);

  constructor(
    private readonly source: string,
    readonly box: readonly Knob[],
  ) {}

  get size(): number {
    return this.named.size;
  }
  name(arm: number): Arm {
    return this.named.name(arm);
  }
  find(name: Arm): number {
    return this.named.find(name);
  }
  point(arm: number): readonly number[] {
    return this.points[arm]!;
  }
  /** The point of a name; undefined: the name is not a point of this box. */
  read(name: Arm): number[] | undefined {
    const prefix = `${this.source}/`;
    const parts = name.startsWith(prefix) ? name.slice(prefix.length).split(",") : [];
    const point = this.box.map((knob, i) => {
      const [key, text] = parts[i]?.split("=") ?? [];
      const value = text === undefined || text === "" ? Number.NaN : Number(text);
      return key === knob.name && value >= knob.low && value <= knob.high ? value : Number.NaN;
    });
    return parts.length === this.box.length && point.every(Number.isFinite) ? point : undefined;
  }
  /** The point's arm. The point is clipped to the box and rounded (to whole numbers, or six digits), so its name is exact. */
  place(point: readonly number[]): number {
    const inside = this.box.map(({ low, high, whole }, i) => {
      const value = Math.min(high, Math.max(low, point[i]!));
      return whole ? Math.round(value) : Number(value.toFixed(6));
    });
    const name = this.box.map((knob, i) => `${knob.name}=${inside[i]!}`).join(",");
    const arm = this.named.add(`${this.source}/${name}`);
    if (arm === this.points.length) this.points.push(inside);
    return arm;
  }
}

class BoxDivision implements Division {
  readonly arms: PointArms;
  private readonly tasks = new WeakMap<Task, number>();

  constructor(
    private readonly one: SourceOf & { readonly drawAt: NonNullable<SourceOf["source"]["drawAt"]> },
    private readonly box: readonly Knob[],
    start: readonly (readonly number[])[],
  ) {
    this.arms = new PointArms(one.config.name, box);
    for (const point of start) this.arms.place(point);
  }

  get families(): readonly Arm[] {
    return [this.one.config.name];
  }
  familyOf(task: Task): Arm {
    return task.source;
  }
  armOf(task: Task): number {
    return this.tasks.get(task) ?? -1;
  }
  prior(_arm: number, clock: Clock): number {
    return valueAt(this.one.config.weight, clock);
  }
  named(name: Arm): number {
    const point = this.arms.read(name);
    return point === undefined ? -1 : this.arms.place(point);
  }
  draw(arm: number, random: Random): Task | null {
    const point = this.arms.point(arm);
    const at = Object.fromEntries(this.box.map(({ name }, i) => [name, point[i]!]));
    const task = this.one.drawAt(at, "train", random);
    if (task !== null) this.tasks.set(task, arm);
    return task;
  }

  save(): Saved {
    return { json: null, arrays: { points: Float64Array.from(this.arms.points.flat()) } };
  }
  load({ arrays }: Saved): void {
    const flat = Array.from(arrays?.["points"] ?? []);
    for (let at = 0; at < flat.length; at += this.box.length)
      this.arms.place(flat.slice(at, at + this.box.length));
  }
}

export const byParameters = arms({
  name: "parameters",
  aliases: ["box"],
  summary:
    "Arms are points of a box: numbers that an environment makes its tasks from. A sampler may choose new ones.",
  sources: [
    "Teacher algorithms for curriculum learning of Deep RL in continuously parameterized environments",
  ],
  gives: ["points"],
  params: z.object({
    box: param(
      z.record(z.string(), z.tuple([z.number(), z.number()])).default({}),
      "From and to of each parameter that varies, e.g. `{ numbers: [2, 5], high: [5, 50] }`; default: the difficulty alone.",
    ),
    start: param(
      z.number().int().positive().default(16),
      "Points, anywhere in the box, that are arms from the start.",
    ),
  }),
  create:
    ({ box: ranges, start }, { random }) =>
    (sources) => {
      const box = boxOf(
        sources.map(({ config, source }) => ({
          name: config.name,
          knobs: source.drawAt === undefined ? undefined : source.box,
        })),
        ranges,
      );
      const one = sources[0]!;
      const drawAt = one.source.drawAt!.bind(one.source);
      const points = Array.from({ length: start }, (_, i) => {
        const stream = random.fork("box", i);
        return fromUnit(
          box,
          box.map(() => stream.next()),
        );
      });
      return new BoxDivision({ ...one, drawAt }, box, points);
    },
});
