/** Tasks that the run makes: a source that is empty at first. */
import { z } from "zod";
import { formatFraction } from "../../../shared/lib/format.ts";
import type { Random } from "../../lib/random.ts";
import type { Task } from "../../core/task.ts";
import type { TaskPool, TaskSource } from "../../core/slots/tasks.ts";
import type { Clock, Saved } from "../../core/basics.ts";
import type { Group } from "../../core/rollouts.ts";
import { joined, partOf } from "../../core/saved.ts";
import { ConceptBook } from "./conceptBook.ts";
import { Memory, type Family, type Weighed } from "./memory.ts";
import { taskSchema } from "../../core/savedTask.ts";
import { lineageOf } from "./task.ts";
import type { RememberedTask, Selector, Transform } from "../../core/slots/generation.ts";

/** Tasks that are remembered as possible parents. */
const remembered = 4096;
const schema = z.object({ tasks: z.array(taskSchema), known: z.array(z.string()), round: z.number().int() });

export interface GeneratedOptions {
  readonly name: string;
  /** The sources whose tasks may be parents. */
  readonly from: readonly TaskSource[];
  readonly selector: Selector;
  readonly transform: Transform;
  /** The parents' environments make the children: their difficulties are known before there are any. */
  readonly byProgram: boolean;
  /** Most tasks that are kept; the oldest leave. */
  readonly keep: number;
  /** Generations between a task of `from` and its youngest descendants. */
  readonly depth: number;
  /** Whether curricula of several stages draw from it. */
  readonly shared?: boolean;
}

/** The value of tasks of unknown difficulty. */
const other = "other";

export class GeneratedTasks implements TaskSource {
  readonly values: readonly string[];
  readonly grows = true;
  readonly shared?: true;
  /** Rounds so far: names random streams. */
  round = 0;
  private tasks: Task[] = [];
  /** Ids that were made or refused: none of them is tried twice. */
  private readonly known = new Set<string>();
  private readonly memory: Memory;
  /** What remembered tasks need, where the transform asks for it. */
  readonly concepts = new ConceptBook();
  /** Reading a prompt can take a while. */
  private readonly environments = new WeakMap<Task, TaskSource | undefined>();

  constructor(private readonly options: GeneratedOptions) {
    this.values = valuesOf(options);
    if (options.shared === true) this.shared = true;
    const { answers } = options.transform;
    this.memory = new Memory(remembered, (task) => this.skillOf(task), answers);
  }

  get name(): string {
    return this.options.name;
  }
  /** Those that are kept, the oldest first. */
  get made(): readonly Task[] {
    return this.tasks;
  }
  get size(): number {
    return this.tasks.length;
  }

  /** Training tasks only: evaluation asks what people wrote. */
  draw(split: "train" | "evaluate", value: string | undefined, random: Random): Task | null {
    if (split === "evaluate") return null;
    const open = value === undefined ? this.tasks : this.tasks.filter((task) => this.valueOf(task) === value);
    return open.length === 0 ? null : open[random.integer(open.length)]!;
  }
  /** The difficulty that its environment reports. */
  valueOf(task: Task): string | undefined {
    if (this.values.length === 0) return undefined;
    const value = this.environment(task)?.valueOf(task);
    return value !== undefined && this.values.includes(value) ? value : other;
  }
  private skillOf(task: Task): string {
    const environment = this.environment(task);
    const value = environment?.valueOf(task);
    return value === undefined ? (environment?.name ?? task.source) : `${environment!.name}/${value}`;
  }
  pool(): TaskPool {
    return { size: this.tasks.length, task: (number) => this.tasks[number]! };
  }

  /** Outcomes of tasks that may become parents. */
  observe(groups: readonly Group[], _clock: Clock): void {
    const { from, depth, name } = this.options;
    for (const group of groups) {
      const { source } = group.task;
      const mine = source === name && (lineageOf(group.task)?.generation ?? 0) < depth;
      if (mine || from.some((one) => one.name === source)) this.memory.observe(group);
    }
  }

  /** The same with nothing but a step's own groups in mind: what it makes is that step's alone. */
  ofStep(groups: readonly Group[], clock: Clock): GeneratedTasks {
    const own = new GeneratedTasks(this.options);
    own.round = this.round++;
    own.observe(groups, clock);
    return own;
  }

  /** @param n families of parents of one child each */
  parents(n: number, random: Random, family: Family): RememberedTask[][] {
    return this.memory.choose(this.options.selector, n, random, family);
  }
  /** Every task that may be a parent. */
  open(): Weighed[] {
    return this.memory.weighed(this.options.selector);
  }
  /** How hard its environment says that a task is; empty: it does not say. */
  levelOf(task: Task): string {
    return this.environment(task)?.valueOf(task) ?? "";
  }
  /** "countdown/4: 12 % solved", a line each skill, the weakest first. */
  feedback(): string {
    const skills = this.memory.skills().sort((a, b) => a.rate - b.rate);
    return skills.map(({ name, rate }) => `${name}: ${formatFraction(rate)} solved`).join("\n");
  }
  /** What the parent's environment is: its own source, or that of the first ancestor. */
  environment(parent: Task): TaskSource | undefined {
    if (!this.environments.has(parent)) this.environments.set(parent, this.found(parent));
    return this.environments.get(parent);
  }
  private found({ source, prompt }: Task): TaskSource | undefined {
    const { from } = this.options;
    return from.find(({ name }) => name === source) ?? from.find((one) => one.read?.(prompt) != null);
  }

  /** Whether a task of that id was made, refused or seen before. */
  readonly knows = (id: string): boolean => this.known.has(id) || this.memory.get(id) !== undefined;
  refuse(id: string): void {
    this.known.add(id);
  }
  take(task: Task): void {
    this.known.add(task.id);
    this.tasks.push(task);
    if (this.tasks.length > this.options.keep) this.tasks.shift();
  }

  save(): Saved {
    const { known, round } = this;
    // Keys in the order in which they are read: a resumed run's checkpoint is, letter for letter, the uninterrupted one's.
    const tasks = this.tasks.map((task) => ({ ...taskSchema.parse(task) }));
    return joined({
      made: { json: { tasks, known: [...known], round } },
      memory: this.memory.save(),
      concepts: this.concepts.save(),
    });
  }
  load(saved: Saved): void {
    const made = schema.safeParse(partOf(saved, "made").json).data;
    this.tasks = made?.tasks ?? [];
    this.round = made?.round ?? 0;
    this.known.clear();
    for (const id of made?.known ?? []) this.known.add(id);
    this.memory.load(partOf(saved, "memory"));
    this.concepts.load(partOf(saved, "concepts"));
  }
}

/** Difficulties that children may have: those of the parents, moved as a program moves them. */
function valuesOf({ from, transform, byProgram, depth }: GeneratedOptions): readonly string[] {
  const known = [...new Set(from.flatMap(({ values }) => values))];
  if (known.length === 0 || transform.make !== undefined) return [];
  if (!byProgram) return [...known, other];
  const generations = transform.level === 0 ? [0] : Array.from({ length: depth }, (_, i) => i + 1);
  const moved = known.flatMap((value) => generations.map((n) => Number(value) + n * transform.level));
  return [...new Set(moved.filter(Number.isFinite).map(String))];
}
