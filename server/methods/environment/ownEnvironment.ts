/** An environment in a file of the user's: one process for each episode that is played at once. */
import { z } from "zod";
import type { Json, JsonObject } from "../../../shared/lib/json.ts";
import type {
  Environment,
  Environments,
  Message,
  Observation,
  Stepped,
} from "../../core/slots/environment.ts";
import type { ToolSpec } from "../../core/slots/tool.ts";
import { taskJson, type Task } from "../../core/task.ts";
import { callsIn, type ToolCall } from "../../core/toolCalls.ts";
import { OwnObject, type OpenObject, type OwnObjectOptions } from "../../lib/own/ownObject.ts";
import type { Prepared } from "../../lib/own/prepared.ts";

const text = z.string();
const actions = z.array(z.string()).min(1);
const reset = z.union([
  z.null(),
  text.transform((said) => ({ text: said, actions: undefined })),
  z.strictObject({ text: text.default(""), actions: actions.optional() }),
]);
const step = z.union([
  text.transform((said) => ({ text: said })),
  z.strictObject({
    text: text.default(""),
    reward: z.number().nullable().optional(),
    done: z.boolean().default(false),
    actions: actions.nullable().optional(),
    components: z.record(z.string(), z.number()).optional(),
  }),
]);
const results = z.array(z.object({ name: z.string(), text: z.string() }));

const forms = {
  reset: "a text, nothing, or { text, actions }",
  step: "a text, or { text, reward, done, actions, components }",
} as const;

function checked<Value>(schema: z.ZodType<Value>, value: Json, call: keyof typeof forms): Value {
  const { success, data } = schema.safeParse(value);
  if (success) return data;
  throw new Error(
    `\`${call}\` returned ${JSON.stringify(value).slice(0, 120)}; it must return ${forms[call]}`,
  );
}

const asUser = (said: string): readonly Message[] => (said === "" ? [] : [{ role: "user", text: said }]);

/** The same as the row of a dataset, as TRL gives it to `reset`. */
const rowJson = ({ prompt, answer, data }: Task): JsonObject => ({
  prompt,
  ...(answer === undefined ? {} : { answer }),
  ...data,
});

/** Gradus's own form: `reset(task, seed)` and `step(text)`. */
class SteppedEnvironment implements Environment {
  readonly state?: () => Promise<Json>;
  readonly restore?: (task: Task, seed: number, state: Json) => Promise<void>;

  constructor(private readonly object: OpenObject) {
    if (!object.loaded.restores) return;
    this.state = () => object.ask({ kind: "state" });
    this.restore = async (task, seed, state) =>
      void (await object.ask({ kind: "restore", task: taskJson(task), seed, state }));
  }

  async reset(task: Task, seed: number): Promise<Observation> {
    const found = checked(
      reset,
      await this.object.ask({ kind: "reset", task: taskJson(task), seed }),
      "reset",
    );
    return {
      messages: asUser(found?.text ?? ""),
      ...(found?.actions !== undefined && { actions: found.actions }),
    };
  }

  async step(said: string, signal?: AbortSignal): Promise<Stepped> {
    const found = checked(step, await this.object.ask({ kind: "step", text: said }, signal), "step");
    if (!("done" in found)) return { messages: asUser(found.text), done: false };
    const { reward, done, components } = found;
    return {
      messages: asUser(found.text),
      done,
      ...(typeof reward === "number" && { reward }),
      ...(found.actions != null && { actions: found.actions }),
      ...(components !== undefined && { components }),
    };
  }

  close(): Promise<void> {
    return this.object.close();
  }
}

/** Calls in a turn, as chat templates have the policy write them, else in tags. */
function calledIn(said: string, tools: readonly ToolSpec[]): readonly ToolCall[] {
  const calls = callsIn(said, "json", tools);
  return calls.length > 0 ? calls : callsIn(said, "tags", tools);
}

/** TRL's form: a turn calls methods; one that calls none ends the episode, which then gives its reward. */
class MethodsEnvironment implements Environment {
  constructor(private readonly object: OpenObject) {}

  async reset(task: Task, seed: number): Promise<Observation> {
    const said = await this.object.ask({ kind: "reset", task: rowJson(task), seed });
    return { messages: asUser(said === null ? "" : String(said)) };
  }

  async step(said: string, signal?: AbortSignal): Promise<Stepped> {
    const found = calledIn(said, this.object.loaded.tools);
    if (found.length === 0) return { messages: [], done: true, ...(await this.end()) };
    const calls = found.flatMap((one) =>
      one.kind === "call" ? [{ name: one.name, arguments: one.args }] : [],
    );
    const answers =
      calls.length === 0 ? [] : results.parse(await this.object.ask({ kind: "calls", calls }, signal));
    const wrong = found.flatMap((one) => (one.kind === "malformed" ? [one.problem] : []));
    return {
      done: false,
      messages: [
        ...answers.map(({ name, text: result }): Message => ({ role: "tool", name, text: result })),
        ...wrong.map((problem): Message => ({ role: "tool", text: `{'error': ${JSON.stringify(problem)}}` })),
      ],
    };
  }

  async end(): Promise<Pick<Stepped, "reward">> {
    if (!this.object.loaded.rewards) return {};
    const reward = await this.object.ask({ kind: "reward" });
    return typeof reward === "number" ? { reward } : {};
  }

  close(): Promise<void> {
    return this.object.close();
  }
}

export class OwnEnvironments implements Environments {
  private readonly own: OwnObject;
  tools: readonly ToolSpec[] = [];

  /** @param most processes at once */
  constructor(
    options: Omit<OwnObjectOptions, "role" | "owner">,
    readonly most: number,
  ) {
    this.own = new OwnObject({
      ...options,
      role: "environment",
      owner: {
        what: "environment",
        key: "play",
        missing: "environment-missing",
        build: "environment-build",
        python: "environment-python",
        load: "environment-load",
      },
    });
  }

  get made(): Prepared | undefined {
    return this.own.made;
  }

  async prepare(): Promise<void> {
    this.tools = (await this.own.look()).tools;
  }

  async open(): Promise<Environment> {
    const object = await this.own.open();
    return object.loaded.form === "methods" ? new MethodsEnvironment(object) : new SteppedEnvironment(object);
  }

  close(): Promise<void> {
    return this.own.close();
  }
}
