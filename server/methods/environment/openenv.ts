import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { isObject, objectOf, type Json, type JsonObject } from "../../../shared/lib/json.ts";
import { environment, param } from "../../core/declaration.ts";
import { template } from "../../core/references.ts";
import type {
  Environment,
  Environments,
  Message,
  Observation,
  Stepped,
} from "../../core/slots/environment.ts";
import type { Task } from "../../core/task.ts";
import { fill } from "../../core/templates.ts";
import { OpenEnvSocket } from "./openenvSocket.ts";

const params = z.object({
  url: param(z.url(), "Address of the server, e.g. `http://localhost:8000`."),
  action: param(
    z.record(z.string(), z.json()).optional(),
    "The action that a turn becomes: `{text}` in a value is what the policy wrote. Default: the one text that the server's actions have; a turn that is a JSON object is the action itself.",
  ),
  observation: param(
    template().optional(),
    "Template of what the policy reads of an observation: its fields, `{reward}`, `{done}`. Default: its one text, else all of it as JSON.",
  ),
  sessions: param(
    z.number().int().min(1).max(1024).default(1),
    "Episodes at once: as many sessions as the server allows (`max_concurrent_envs`).",
  ),
  timeout: param(z.number().positive().default(60), "Seconds that the server may take for an answer."),
  headers: param(
    z.record(z.string(), z.string()).default({}),
    "Headers of the connection, e.g. `Authorization`; `${env:NAME}` keeps a secret out of the file.",
  ),
});
type Params = z.output<typeof params>;

const observed = z.object({
  observation: z.record(z.string(), z.json()).default({}),
  reward: z.union([z.number(), z.boolean()]).nullable().default(null),
  done: z.boolean().default(false),
});
type Observed = z.output<typeof observed>;

const written = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);

/** What the policy reads. */
function textOf({ observation, reward, done }: Observed, form: string | undefined): string {
  const { metadata: _, ...fields } = observation;
  if (form !== undefined) {
    const values = Object.entries({ ...fields, reward, done }).map(([key, value]) => [key, written(value)]);
    return fill(form, Object.fromEntries(values));
  }
  const texts = Object.values(fields).filter((value) => typeof value === "string");
  if (texts.length === 1) return texts[0]!;
  return Object.keys(fields).length === 0 ? "" : JSON.stringify(fields);
}

const filled = (value: Json, text: string): Json => {
  if (typeof value === "string") return value.replaceAll("{text}", () => text);
  if (Array.isArray(value)) return value.map((item: Json) => filled(item, text));
  return isObject(value) ? filledObject(value, text) : value;
};
const filledObject = (value: JsonObject, text: string): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, text)]));

/** A turn that is an action as JSON; undefined: it is none. */
function ownAction(text: string): JsonObject | undefined {
  if (!text.trim().startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

class OpenEnvEnvironment implements Environment {
  private socket: OpenEnvSocket | undefined;

  constructor(
    private readonly chosen: Params,
    private readonly action: () => JsonObject | undefined,
  ) {}

  async reset(task: Task, seed: number): Promise<Observation> {
    const { url, timeout, headers } = this.chosen;
    // A session that failed is over: the next episode has another.
    if (this.socket?.isOpen !== true) this.socket = await OpenEnvSocket.connect(url, timeout, headers);
    const data = { ...task.data, seed };
    return { messages: this.messages(observed.parse(await this.socket.ask({ type: "reset", data }))) };
  }

  async step(text: string, signal?: AbortSignal): Promise<Stepped> {
    if (this.socket === undefined) throw new Error("a turn before the episode began");
    const form = this.action();
    const action = ownAction(text) ?? (form && filledObject(form, text));
    if (action === undefined) throw new Error("the turn is no JSON object, and `play.action` is not set");
    const found = observed.parse(await this.socket.ask({ type: "step", data: action }, signal));
    const { reward, done } = found;
    return { messages: this.messages(found), done, ...(reward !== null && { reward: Number(reward) }) };
  }

  private messages(found: Observed): readonly Message[] {
    const text = textOf(found, this.chosen.observation);
    return text === "" ? [] : [{ role: "user", text }];
  }

  async close(): Promise<void> {
    await this.socket?.close();
  }
}

/** Of a JSON Schema of actions: the one property that is a text. */
function textProperty(schema: JsonObject): string | undefined {
  const { properties, required } = schema;
  const texts = Object.entries(objectOf(properties)).filter(
    ([name, property]) => name !== "metadata" && objectOf(property)["type"] === "string",
  );
  const needed = texts.filter(([name]) => Array.isArray(required) && required.includes(name));
  const [only, ...rest] = needed.length > 0 ? needed : texts;
  return rest.length === 0 ? only?.[0] : undefined;
}

class OpenEnvs implements Environments {
  private action: JsonObject | undefined;

  constructor(private readonly chosen: Params) {
    this.action = chosen.action;
  }

  get most(): number {
    return this.chosen.sessions;
  }

  async prepare(): Promise<void> {
    if (this.action !== undefined) return;
    const { url } = this.chosen;
    try {
      const name = textProperty(objectOf(objectOf(await this.schema())["action"]));
      if (name !== undefined) this.action = { [name]: "{text}" };
    } catch (error) {
      throw new UserError(`the OpenEnv server ${url} does not answer: ${messageOf(error)}`, {
        code: "environment-openenv",
        action: "Start the server, and check `play.url`.",
        cause: error,
      });
    }
  }

  private async schema(): Promise<unknown> {
    const { url, timeout, headers } = this.chosen;
    const address = new URL(url.replace(/^ws/, "http").replace(/\/(?:ws)?\/?$/, ""));
    address.pathname = `${address.pathname.replace(/\/$/, "")}/schema`;
    const answer = await fetch(address, { headers, signal: AbortSignal.timeout(timeout * 1000) });
    if (!answer.ok) throw new Error(`${address.href}: ${answer.status}`);
    return answer.json();
  }

  async open(): Promise<Environment> {
    return new OpenEnvEnvironment(this.chosen, () => this.action);
  }
}

export const openenv = environment({
  name: "openenv",
  summary:
    "An environment on a server of OpenEnv: sessions with `reset` and `step` over a WebSocket. `reset` is given the task's data and the episode's `seed`, as far as it takes them.",
  sources: ["OpenEnv"],
  params,
  create: (chosen) => new OpenEnvs(chosen),
});
