/** Environments in files of the user's: both forms, and what goes wrong in them. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { JsonObject } from "../../../../shared/lib/json.ts";
import type { Environment, Environments } from "../../../../server/core/slots/environment.ts";
import type { Task } from "../../../../server/core/task.ts";
import { python } from "../../../../server/methods/environment/python.ts";
import { user } from "../../../../server/methods/environment/user.ts";
import { replayTurns } from "../../../../server/run/step/generate/replayedTurns.ts";
import { objectHost } from "../../../support/objectHost.ts";
import { withoutPython } from "../../../support/pythonReward.ts";
import { goneOn, made, temporary } from "../../support.ts";

await objectHost();

const task = (data: JsonObject = {}): Task => ({
  id: "t",
  source: "s",
  env: "dataset",
  prompt: "Guess.",
  data,
});

function own(
  name: string,
  text: string,
  params: { readonly export?: string; readonly timeout?: number } = {},
): Environments {
  const folder = temporary();
  writeFileSync(join(folder, name), text);
  const declaration = name.endsWith(".py") ? python : user;
  return made<"environment", typeof declaration.params>(declaration, { file: name, ...params }, { folder });
}

async function using<Value>(
  environments: Environments,
  work: (environment: Environment) => Promise<Value>,
): Promise<Value> {
  try {
    await environments.prepare?.();
    const environment = await environments.open();
    try {
      return await work(environment);
    } finally {
      await environment.close();
    }
  } finally {
    await environments.close?.();
  }
}

const guess = `export default class Guess {
  secret = 0;
  turns = 0;
  reset(task: { data: { secret: number } }, seed: number) {
    this.secret = task.data.secret;
    return { text: "Seed " + seed + ".", actions: ["1", "2", "3"] };
  }
  step(text: string) {
    this.turns += 1;
    if (text === "hang") for (;;);
    if (text === "leave") process.exit(3);
    if (text === "throw") throw new RangeError("no such guess");
    if (text === "number") return 3;
    if (text === "nan") return { text: "", reward: Number.NaN };
    if (text === "plain") return "hm";
    const won = Number(text) === this.secret;
    return { text: won ? "" : "no", reward: won ? 1 : -0.5, done: won, components: { turns: this.turns } };
  }
  state() { return { secret: this.secret, turns: this.turns }; }
  restore(state: { secret: number; turns: number }) { Object.assign(this, state); }
}
`;
const guessPython = `import time, os
class Environment:
    def reset(self, task, seed):
        self.secret, self.turns = task["data"]["secret"], 0
        return {"text": "Seed %d." % seed, "actions": ["1", "2", "3"]}
    async def step(self, text):
        self.turns += 1
        if text == "hang":
            while True: pass
        if text == "leave": os._exit(3)
        if text == "throw": raise IndexError("no such guess")
        if text == "number": return 3
        if text == "nan": return {"text": "", "reward": float("nan")}
        if text == "plain": return "hm"
        won = text.isdigit() and int(text) == self.secret
        return {"text": "" if won else "no", "reward": 1 if won else -0.5, "done": won, "components": {"turns": self.turns}}
    def state(self): return {"secret": self.secret, "turns": self.turns}
    def restore(self, state): self.__dict__.update(state)
`;

for (const [name, text, skip] of [
  ["guess.ts", guess, false],
  ["guess.py", guessPython, withoutPython],
] as const) {
  test(`${name}: an episode is played, saved and gone on with in another process`, { skip }, async () => {
    const environments = own(name, text);
    await using(environments, async (environment) => {
      assert.deepEqual(await environment.reset(task({ secret: 2 }), 7), {
        messages: [{ role: "user", text: "Seed 7." }],
        actions: ["1", "2", "3"],
      });
      assert.deepEqual(await environment.step("1"), {
        messages: [{ role: "user", text: "no" }],
        done: false,
        reward: -0.5,
        components: { turns: 1 },
      });
      assert.deepEqual(await environment.step("plain"), {
        messages: [{ role: "user", text: "hm" }],
        done: false,
      });
      const state = await environment.state!();
      const other = await environments.open();
      await other.restore!(task({ secret: 2 }), 7, state);
      const last = { messages: [], done: true, reward: 1, components: { turns: 3 } };
      assert.deepEqual([await other.step("2"), await environment.step("2")], [last, last]);
      await other.close();
    });
  });

  test(
    `${name}: what it throws or wrongly returns is an error that says so, and the process lives on`,
    { skip },
    async () => {
      await using(own(name, text), async (environment) => {
        await environment.reset(task({ secret: 2 }), 1);
        await assert.rejects(
          environment.step("throw"),
          /guess\.\w+:\w+: step: threw (RangeError|IndexError): no such guess \(.*guess\.\w+:\d+/,
        );
        await assert.rejects(
          environment.step("number"),
          /`step` returned 3; it must return a text, or \{ text, reward/,
        );
        await assert.rejects(environment.step("nan"), /nan/i);
        assert.equal((await environment.step("2")).done, true);
      });
    },
  );

  test(
    `${name}: what hangs is killed, and the next episode begins in a fresh process`,
    { skip },
    async () => {
      await using(own(name, text, { timeout: 1 }), async (environment) => {
        await environment.reset(task({ secret: 2 }), 1);
        await assert.rejects(environment.step("hang"), /timeout after 1 s/);
        await environment.reset(task({ secret: 3 }), 1);
        await assert.rejects(environment.step("leave"), /ended with exit code 3/);
        await environment.reset(task({ secret: 3 }), 1);
        assert.equal((await environment.step("3")).reward, 1);
      });
    },
  );
}

test("a file without the export, or whose export is no environment, is refused with what it has", async () => {
  const refused = async (name: string, text: string, wanted: RegExp): Promise<void> => {
    const environments = own(name, text);
    await assert.rejects(environments.prepare!(), (error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, wanted);
      assert.match(error.detail.code ?? "", /^environment-/);
      return true;
    });
    await environments.close?.();
  };
  await refused("a.ts", "export const play = {};", /has no export "default" \(it exports play\)/);
  await refused("a.ts", "export default { reset() {} };", /has no method `step`/);
  await refused(
    "a.ts",
    "export default class { constructor() { throw new Error('no board'); } }",
    /no board/,
  );
  if (withoutPython !== false) return;
  await refused("a.py", "class Environment:\n    pass\n", /has no method `reset`/);
  await refused(
    "a.py",
    "import nowhere_at_all\nclass Environment(nowhere_at_all.Base):\n    pass\n",
    /No module named 'nowhere_at_all'/,
  );
});

/** The class of TRL's documentation, with a method that fails and one that is asynchronous. */
const increment = `import random

class Increment:
    def reset(self, target=None, **kwargs) -> str | None:
        self.counter = 0
        self.target = random.randint(1, 1000) if target is None else target
        return None if target is not None else f" Increment the counter by {self.target}."

    def get_reward(self) -> float:
        return float(self.counter == self.target)

    def increment(self, step: int) -> int:
        """
        Increment the internal counter.

        Args:
            step: Value to add to the counter,
                once.

        Returns:
            The updated counter value.
        """
        self.counter += step
        return self.counter

    async def wait(self, seconds: float = 0.0, why: "str | None" = None) -> str:
        """Waits."""
        return "waited"

    def _private(self): ...
`;
const called = (name: string, args: object): string =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;

test(
  "a class of TRL's form: its public methods are tools, and its end is rewarded",
  { skip: withoutPython },
  async () => {
    const environments = own("increment.py", increment, { export: "Increment" });
    await using(environments, async (environment) => {
      assert.deepEqual(environments.tools, [
        {
          name: "increment",
          description: "Increment the internal counter.",
          parameters: {
            type: "object",
            properties: { step: { type: "integer", description: "Value to add to the counter, once." } },
            required: ["step"],
          },
        },
        {
          name: "wait",
          description: "Waits.",
          parameters: {
            type: "object",
            properties: { seconds: { type: "number" }, why: { type: "string", nullable: true } },
          },
        },
      ]);
      assert.equal(environment.state, undefined);
      assert.deepEqual(await environment.reset(task({ target: 5, other: "column" }), 1), { messages: [] });
      const turn =
        called("wait", {}) +
        called("increment", { step: 2 }) +
        called("decrement", {}) +
        "<tool_call>oh</tool_call>";
      const { messages, done } = await environment.step(turn);
      assert.deepEqual(
        messages.map(({ role, name, text }) => [role, name, text.slice(0, 33)]),
        [
          ["tool", "increment", "2"],
          ["tool", "decrement", "{'error': 'Tool decrement not foun"],
          ["tool", "wait", "waited"],
          ["tool", undefined, "{'error': \"The call is no JSON: U"],
        ].map(([role, name, text]) => [role, name, text?.slice(0, 33)]),
      );
      assert.equal(done, false);
      assert.deepEqual(await environment.step(called("increment", { step: "3" })), {
        done: false,
        messages: [
          {
            role: "tool",
            name: "increment",
            text: "{'error': \"unsupported operand type(s) for +=: 'int' and 'str'\"}",
          },
        ],
      });
      await environment.step(called("increment", { step: 3 }));
      assert.deepEqual(await environment.end!(), { reward: 1 });
      assert.deepEqual(await environment.step("Done."), { messages: [], done: true, reward: 1 });
      const turns = goneOn([called("increment", { step: 2 })], ["2"], { seed: 1, prompt: 6 });
      await replayTurns(environment, task({ target: 3 }), turns, (call) => call());
      await environment.step(called("increment", { step: 1 }));
      assert.deepEqual(await environment.end!(), { reward: 1 }, "it goes on after the turns");
      const begun = [
        await environment.reset(task(), 4),
        await environment.reset(task(), 4),
        await environment.reset(task(), 5),
      ];
      assert.deepEqual(begun[0], begun[1]);
      assert.notDeepEqual(begun[0], begun[2]);
    });
  },
);
