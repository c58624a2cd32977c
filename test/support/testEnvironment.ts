/**
 * An environment and a tool for tests, among the methods of their slots.
 */
import { z } from "zod";
import { environment, tool } from "../../server/core/declaration.ts";
import type { Environment, Stepped } from "../../server/core/slots/environment.ts";
import { methods } from "../../server/methods/index.ts";

/** What happened in the environments of this process, for tests to look at. */
export const seen = {
  steps: 0,
  opened: 0,
  closed: 0,
  open: 0,
  most: 0,
  ended: [] as string[],
  calls: [] as string[],
};

/** Who waits until so many steps have been taken. */
const waiting = new Set<() => void>();
const stepsReach = (wanted: number): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (seen.steps < wanted) return;
      waiting.delete(look);
      resolve();
    };
    waiting.add(look);
  });

/**
 * `count` turns: each odd one is rewarded by its share of small letters; what is said is the number of the turn and the
 * seed's last digit. `throws`: a turn with this text in it throws; `hangs`: one with this text is never answered;
 * `restores: false`: it cannot tell its state; `drifts`: it says other things each time;
 * `gate`: half of the first turns are answered only after so many further steps of other episodes.
 */
class Digits implements Environment {
  private readonly number = seen.opened;
  private turn = 0;
  private seed = 0;
  constructor(
    private readonly choices: z.output<typeof params>,
    private readonly done: () => void,
  ) {}

  reset(_: unknown, seed: number): ReturnType<Environment["reset"]> {
    [this.turn, this.seed] = [0, seed];
    return Promise.resolve({
      messages: this.choices.greets ? [{ role: "user", text: `#${seed % 10}` }] : [],
    });
  }
  async step(text: string): Promise<Stepped> {
    const { turns, throws, hangs, gate, drifts } = this.choices;
    if (throws !== undefined && text.includes(throws)) throw new Error(`it cannot bear ${throws}`);
    if (hangs !== undefined && text.includes(hangs)) await new Promise(() => undefined);
    if (gate > 0 && this.turn === 0 && this.number % 2 === 0) await stepsReach(seen.steps + gate);
    this.turn += 1;
    seen.steps += 1;
    for (const look of waiting) look();
    const small = [...text].filter((letter) => letter >= "a").length;
    const reward = small / Math.max(1, text.length);
    return {
      messages: [{ role: "user", text: `${this.turn}:${this.seed % 10}${drifts ? `:${seen.steps}` : ""}` }],
      ...(this.turn % 2 === 1 && { reward }),
      done: this.turn >= turns,
      components: { turn: this.turn },
    };
  }
  end(): Promise<{ readonly reward?: number }> {
    return Promise.resolve(this.choices.ends === 0 ? {} : { reward: this.choices.ends });
  }
  state(): Promise<{ turn: number }> {
    return Promise.resolve({ turn: this.turn });
  }
  restore(_: unknown, seed: number, state: unknown): Promise<void> {
    this.turn = z.object({ turn: z.number() }).parse(state).turn;
    this.seed = seed;
    return Promise.resolve();
  }
  close(): Promise<void> {
    this.done();
    return Promise.resolve();
  }
}

const params = z.object({
  turns: z.number().default(3),
  most: z.number().optional(),
  greets: z.boolean().default(false),
  throws: z.string().optional(),
  hangs: z.string().optional(),
  gate: z.number().default(0),
  ends: z.number().default(0),
  restores: z.boolean().default(true),
  drifts: z.boolean().default(false),
});

const withoutState = (one: Digits): Environment => ({
  reset: (task, seed) => one.reset(task, seed),
  step: (text) => one.step(text),
  end: () => one.end(),
  close: () => one.close(),
});

const digits = environment({
  name: "digits",
  summary: "For tests.",
  sources: [],
  params,
  create: (choices) => ({
    ...(choices.most !== undefined && { most: choices.most }),
    open: () => {
      seen.opened += 1;
      seen.open += 1;
      seen.most = Math.max(seen.most, seen.open);
      const opened = new Digits(choices, () => {
        seen.closed += 1;
        seen.open -= 1;
      });
      return Promise.resolve(choices.restores ? opened : withoutState(opened));
    },
  }),
});

const echo = tool({
  name: "echo",
  summary: "For tests.",
  sources: [],
  params: z.object({ name: z.string().default("echo") }),
  create: ({ name }) => ({
    open: () =>
      Promise.resolve([
        {
          name,
          description: "Says what it is given.",
          parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
          call: ({ text }, { episode }) => {
            seen.calls.push(`${episode}: ${String(text)}`);
            return Promise.resolve(`heard ${String(text)}`);
          },
        },
      ]),
    ended: (episode) => seen.ended.push(episode),
  }),
});

if (Array.isArray(methods)) methods.push(digits, echo);
