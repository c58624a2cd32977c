import { createHash } from "node:crypto";
import { z } from "zod";
import { param, taskSource } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import type { TaskSource } from "../../../core/slots/tasks.ts";
import { splitOf, type Split } from "../../../core/split.ts";
import type { Task } from "../../../core/task.ts";
import { fill } from "../../../core/templates.ts";
import type { Random } from "../../../lib/random.ts";
import { gymTasks, type Gym, type GymTask, type GymValue } from "./fetched.ts";

const params = z.object({
  datasets: param(
    z.array(z.string().min(1)).min(1),
    "Names of its datasets, e.g. `leg_counting`: an arm each.",
  ),
  levels: param(
    z.array(z.number().int().min(0)).min(1).optional(),
    "Levels of the datasets' curricula: each dataset at each level is an arm. Default: the datasets as they are.",
  ),
  attributes: param(
    z.record(z.string(), z.record(z.string(), z.number().int().min(0))).default({}),
    "By dataset, the levels of single attributes of its curriculum, e.g. `leg_counting: { num_animals: 3 }`.",
  ),
  config: param(
    z.record(z.string(), z.record(z.string(), z.json())).default({}),
    "By dataset, fields of its configuration, e.g. `leg_counting: { max_animals: 5 }`.",
  ),
  size: param(
    z.number().int().min(5).max(100_000).default(500),
    "Tasks of each arm. A fifth of them is held out; the run draws the others again and again.",
  ),
  seed: param(z.number().int().min(0).default(0), "Seed of the datasets."),
  python: param(
    z.string().min(1).optional(),
    "The interpreter that has `reasoning-gym`: a path relative to the config, a virtual environment's folder, or a command; default: VIRTUAL_ENV, `.venv`, uv, PATH.",
  ),
  prompt: param(template("question").default("{question}"), "Template of the prompt: `{question}`."),
  solution: param(
    template("answer").default("<answer>{answer}</answer>"),
    "Template of the written solution: `{answer}`.",
  ),
});
type Params = z.output<typeof params>;

/** `leg_counting`, or `leg_counting@2`. */
const nameOf = (dataset: string, level: number | null): string =>
  level === null ? dataset : `${dataset}@${level}`;

class ReasoningGym {
  private readonly values: ReadonlyMap<string, GymValue>;
  private readonly gym: Gym;

  constructor(
    readonly name: string,
    private readonly chosen: Params,
    folder: string,
  ) {
    const { python, seed, size, datasets, levels } = chosen;
    this.gym = { python, folder, seed, size };
    const values = datasets.flatMap((dataset) =>
      (levels ?? [null]).map((level) => this.valueAt(dataset, level)),
    );
    this.values = new Map(values.map((value) => [nameOf(value.dataset, value.level), value]));
  }

  get names(): readonly string[] {
    return [...this.values.keys()];
  }

  private valueAt(dataset: string, level: number | null): GymValue {
    const { config, attributes } = this.chosen;
    return { dataset, level, config: config[dataset] ?? {}, attributes: attributes[dataset] ?? {} };
  }

  private taskOf(value: GymValue, { index, question, answer }: GymTask): Task {
    const { seed, size, prompt, solution } = this.chosen;
    const digest = createHash("sha256").update(question).digest("hex").slice(0, 24);
    return {
      id: `reasoning_gym:${value.dataset}:${digest}`,
      source: this.name,
      env: "reasoning_gym",
      prompt: fill(prompt, { question }),
      // All that makes the entry again: the package scores an answer with it.
      data: { question, gym: { ...value, seed, size }, index },
      ...(answer !== null && { answer, solution: fill(solution, { answer }) }),
    };
  }

  /** All tasks of a value, and of every other value of the config with them: Python starts once. */
  private tasks(value: GymValue): Task[] {
    const all = [...this.values.values()];
    const asked = all.includes(value) ? all : [value];
    const tasks = gymTasks(this.gym, asked)[asked.indexOf(value)]!;
    return tasks.map((task) => this.taskOf(value, task));
  }

  private ofSplit(value: GymValue, split: Split): Task[] {
    return this.tasks(value).filter(({ id }) => splitOf(id) === split);
  }

  private drawn(value: GymValue, split: Split, random: Random): Task | null {
    const tasks = this.ofSplit(value, split);
    return tasks.length === 0 ? null : tasks[random.integer(tasks.length)]!;
  }

  draw(split: Split, wanted: string | undefined, random: Random): Task | null {
    const { names } = this;
    const value = this.values.get(wanted ?? names[random.integer(names.length)]!);
    return value === undefined ? null : this.drawn(value, split, random);
  }

  drawAt(level: number, split: Split, random: Random): Task | null {
    const { datasets } = this.chosen;
    const dataset = datasets[random.integer(datasets.length)]!;
    const known = this.values.get(nameOf(dataset, level));
    return this.drawn(known ?? this.valueAt(dataset, level), split, random);
  }

  vary(task: Task, by: number, random: Random): Task | null {
    const { gym } = dataSchema.safeParse(task.data).data ?? {};
    if (gym === undefined || gym.level === null || gym.level + by < 0) return null;
    return this.drawn(this.valueAt(gym.dataset, gym.level + by), "train", random);
  }

  pool(size: number): readonly Task[] {
    return [...this.values.values()].flatMap((value) => this.ofSplit(value, "train")).slice(0, size);
  }
}

const dataSchema = z.object({
  gym: z.object({ dataset: z.string(), level: z.number().nullable() }),
});

function valueOf(task: Task): string | undefined {
  const { gym } = dataSchema.safeParse(task.data).data ?? {};
  return gym === undefined ? undefined : nameOf(gym.dataset, gym.level);
}

export const reasoningGym = taskSource({
  name: "reasoning_gym",
  summary:
    "Tasks of the Python package reasoning-gym. The reward term of the same name scores answers as the package does.",
  sources: ["REASONING GYM: Reasoning Environments for Reinforcement Learning with Verifiable Rewards"],
  params,
  create: (chosen, context): TaskSource => {
    const gym = new ReasoningGym(context.name ?? "reasoning_gym", chosen, context.folder);
    return {
      name: gym.name,
      values: gym.names,
      draw: (split, value, random) => gym.draw(split, value, random),
      valueOf,
      pool: (size) => {
        const tasks = gym.pool(size);
        return { size: tasks.length, task: (number) => tasks[number]! };
      },
      vary: (task, by, random) => gym.vary(task, by, random),
      holdsOut: ({ id }) => id?.startsWith("reasoning_gym:") === true && splitOf(id) === "evaluate",
      box: [{ name: "level", low: 0, high: Math.max(5, ...(chosen.levels ?? [])), whole: true }],
      drawAt: ({ level = 0 }, split, random) => gym.drawAt(Math.round(level), split, random),
      stamp: JSON.stringify([chosen.seed, chosen.size, chosen.config, chosen.attributes]),
      save: () => ({ json: null }),
      load: () => undefined,
    };
  },
});
