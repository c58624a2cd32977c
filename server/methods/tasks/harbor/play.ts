/** Answers the policy's turns in a Harbor task: a command's output, and at the end what the task's own tests say. */
import type {
  Environment,
  Environments,
  Message,
  Observation,
  Stepped,
} from "../../../core/slots/environment.ts";
import type { Task } from "../../../core/task.ts";
import { Exceeded, HarborEpisode } from "../../../lib/harbor/episode.ts";
import { Namespaces, type Finished } from "../../../lib/harbor/namespaces.ts";
import type { HarborTask } from "../../../lib/harbor/taskFolder.ts";
import { turnOf } from "./commands.ts";

export interface PlayOptions {
  /** Seconds that a command may take. */
  readonly seconds: number;
  /** Characters of its output that are shown. */
  readonly most: number;
  /** At once. */
  readonly machines: number;
}

/** The beginning and the end of an output, and how it ended. */
function observed({ output, code, isLate }: Finished, { seconds, most }: PlayOptions): string {
  const text = output.trimEnd();
  const half = Math.floor(most / 2);
  const shown =
    text.length <= most
      ? text
      : `${text.slice(0, half)}\n… (${text.length - 2 * half} characters are left out) …\n${text.slice(-half)}`;
  const end = isLate ? `(ended after ${seconds} s)` : code === 0 ? "" : `(exit code ${code})`;
  const parts = [shown, end].filter((part) => part !== "");
  return parts.length === 0 ? "(no output)" : parts.join("\n");
}

class HarborPlay implements Environment {
  #episode: HarborEpisode | undefined;
  #task = "";
  /** @param exceeded how often an episode of a task took more than it may */
  constructor(
    private readonly tasks: ReadonlyMap<string, HarborTask>,
    private readonly options: PlayOptions,
    private readonly exceeded: Map<string, number>,
  ) {}

  async reset(task: Task): Promise<Observation> {
    await this.close();
    const own = this.tasks.get(task.id);
    if (own === undefined) throw new Error(`${task.id} is no task of this source`);
    this.#task = task.id;
    this.#episode = await HarborEpisode.open(own);
    return { messages: [] };
  }

  step(text: string, signal?: AbortSignal): Promise<Stepped> {
    return this.#within(() => this.#stepped(text, signal));
  }

  async #stepped(text: string, signal?: AbortSignal): Promise<Stepped> {
    const turn = turnOf(text);
    if (turn.kind === "done") return { messages: [], done: true, ...(await this.#graded(signal)) };
    if (turn.kind === "malformed") return { messages: [message("tool", `Error: ${turn.why}`)], done: false };
    const done = await this.#open.run(turn.command, this.options.seconds, signal);
    return { messages: [message(turn.role, observed(done, this.options))], done: false };
  }

  end(): Promise<Pick<Stepped, "reward" | "components">> {
    return this.#within(() => this.#graded());
  }

  /**
   * An episode that takes more than it may is an error the first time, since the bound may be too small for the task. Afterwards it
   * is an answer that is wrong: a policy could choose it where not solving earns 0 and an error does not train.
   */
  async #within<Result>(
    act: () => Promise<Result>,
  ): Promise<Result | Pick<Stepped, "messages" | "done" | "reward">> {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Exceeded)) throw error;
      const before = this.exceeded.get(this.#task) ?? 0;
      this.exceeded.set(this.#task, before + 1);
      if (before === 0) throw error;
      return { messages: [message("tool", `(ended: ${error.message})`)], done: true, reward: 0 };
    }
  }

  get #open(): HarborEpisode {
    if (this.#episode === undefined) throw new Error("no episode is open");
    return this.#episode;
  }

  async #graded(signal?: AbortSignal): Promise<Pick<Stepped, "reward" | "components">> {
    const { reward, components } = await this.#open.grade(signal);
    return { reward, ...(Object.keys(components).length > 0 && { components }) };
  }

  async close(): Promise<void> {
    const episode = this.#episode;
    this.#episode = undefined;
    await episode?.close();
  }
}

const message = (role: "tool" | "user", text: string): Message =>
  role === "tool" ? { role, text, name: "bash" } : { role, text };

export const harborPlay = (
  tasks: ReadonlyMap<string, HarborTask>,
  options: PlayOptions,
  exceeded = new Map<string, number>(),
): Environments => ({
  tools: [
    {
      name: "bash",
      description: "Runs a command in a shell and returns what it prints.",
      parameters: {
        type: "object",
        properties: { command: { type: "string", description: "The command." } },
        required: ["command"],
      },
    },
  ],
  most: options.machines,
  // A machine that gives no namespaces is reported before the first episode.
  prepare: async () => (await Namespaces.open({ megabytes: 16, memory: 64 })).close(),
  open: () => Promise.resolve(new HarborPlay(tasks, options, exceeded)),
});
