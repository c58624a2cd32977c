/** Each text world: drawn, played by a policy that solves it, saved and restored in its middle, and held out by its id. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { objectOf, type Json } from "../../../../shared/lib/json.ts";
import type { Declaration } from "../../../../server/core/declaration.ts";
import type { Environment, Stepped } from "../../../../server/core/slots/environment.ts";
import type { TaskSource } from "../../../../server/core/slots/tasks.ts";
import { splitOf } from "../../../../server/core/split.ts";
import type { Task } from "../../../../server/core/task.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import { gridPlace, gridState, wayTo } from "../../../../server/methods/tasks/worlds/gridRooms.ts";
import { gridWorld } from "../../../../server/methods/tasks/worlds/gridWorld.ts";
import { guessNumber } from "../../../../server/methods/tasks/worlds/guessNumber.ts";
import { market, sharpe } from "../../../../server/methods/tasks/worlds/market.ts";
import { maze, mazeWay } from "../../../../server/methods/tasks/worlds/maze.ts";
import {
  areEquivalent,
  parseProgram,
  randomProgram,
  rewritten,
  written,
} from "../../../../server/methods/tasks/worlds/polynomials.ts";
import { programEquivalence } from "../../../../server/methods/tasks/worlds/programEquivalence.ts";
import { facts, isTrue, things } from "../../../../server/methods/tasks/worlds/things.ts";
import { twentyQuestions } from "../../../../server/methods/tasks/worlds/twentyQuestions.ts";
import { made, near } from "../../support.ts";

type Choose = (task: Task, state: Json, observed: string) => string;
const now = (state: Json): Json => objectOf(state)["now"] ?? null;

const open = (source: TaskSource): Promise<Environment> => source.play!.open();
const drawn = (
  source: TaskSource,
  split: "train" | "evaluate",
  value: string | undefined,
  number: number,
): Task => {
  const task = source.draw(split, value, randomStream(5, "draw", number));
  assert.ok(task, `${source.name}/${value} has no ${split} task`);
  return task;
};

interface Played {
  readonly steps: readonly Stepped[];
  readonly reward: number;
}
async function playedBy(environment: Environment, task: Task, choose: Choose): Promise<Played> {
  let observed: { readonly messages: Stepped["messages"]; readonly actions?: readonly string[] } =
    await environment.reset(task, 3);
  const steps: Stepped[] = [];
  for (;;) {
    const text = choose(
      task,
      await environment.state!(),
      observed.messages.map(({ text: said }) => said).join("\n"),
    );
    if (observed.actions !== undefined)
      assert.ok(observed.actions.includes(text), `${text} is not admissible`);
    const step = await environment.step(text);
    steps.push(step);
    observed = step;
    if (step.done) break;
    assert.ok(steps.length < 1000, "an episode without end");
  }
  return { steps, reward: steps.reduce((sum, { reward = 0 }) => sum + reward, 0) };
}

const grid =
  (moves: "turn" | "compass"): Choose =>
  (task, state) =>
    wayTo(gridPlace.parse(task.data), moves, gridState.parse(now(state)))![0]!;
const halving: Choose = (_, state) => {
  const { low, high } = objectOf(now(state));
  return String(Math.floor((Number(low) + Number(high)) / 2));
};
const asking: Choose = (_, state) => {
  const left = objectOf(now(state))["left"];
  assert.ok(Array.isArray(left));
  if (left.length === 1) return String(left[0]);
  const best = facts
    .map((fact) => ({ fact, split: left.filter((thing) => isTrue(fact, String(thing))).length }))
    .sort(
      (one, other) => Math.abs(left.length / 2 - one.split) - Math.abs(left.length / 2 - other.split),
    )[0]!;
  return `is it ${best.fact}?`;
};
const walking: Choose = (task, state) => {
  const { side, open: ways, goal } = task.data;
  assert.ok(Array.isArray(ways));
  return mazeWay(
    { side: Number(side), open: ways.map(Number) },
    Number(objectOf(now(state))["cell"]),
    Number(goal),
  )[0]!;
};
const deriving: Choose = (task, state, observed) => {
  const { way, equivalent } = task.data;
  assert.ok(Array.isArray(way));
  const path = objectOf(now(state))["path"];
  assert.ok(Array.isArray(path));
  const next = way[path.length - 1];
  if (equivalent !== true) return "answer no";
  if (next === undefined) return "answer yes";
  const shown = observed === "" ? task.prompt : observed;
  const line = shown.split("\n").find((one) => one.endsWith(`. ${String(next)}`))!;
  return `expand ${line.split(".")[0]!}`;
};

const worlds: readonly [Declaration<"task">, Readonly<Record<string, unknown>>, Choose][] = [
  [gridWorld, { missions: ["go_to", "pick_up", "put_next"] }, grid("turn")],
  [gridWorld, { moves: "compass", view: "short", size: 3 }, grid("compass")],
  [guessNumber, {}, halving],
  [twentyQuestions, {}, asking],
  [maze, {}, walking],
  [programEquivalence, {}, deriving],
];

test("a policy that solves it earns 1 in every world, at train and held-out tasks of each difficulty", async () => {
  for (const [declaration, params, choose] of worlds) {
    const source = made(declaration, params);
    const environment = await open(source);
    for (const value of source.values)
      for (const split of ["train", "evaluate"] as const)
        for (let number = 0; number < 10; number++) {
          const task = drawn(source, split, value, number);
          assert.equal(splitOf(task.id), split);
          assert.equal(source.valueOf(task), value);
          const { reward, steps } = await playedBy(environment, task, choose);
          assert.equal(reward, 1, `${task.id} after ${steps.length} turns`);
          assert.equal(steps.at(-1)!.components!["invalid"], 0);
        }
    await environment.close();
  }
});

test("the same task and seed begin the same episode, and a restored one goes on as the other did", async () => {
  for (const [declaration, params, choose] of [...worlds, [market, {}, () => "buy"] as const]) {
    const source = made(declaration, params);
    const [one, other] = [await open(source), await open(source)];
    const task = drawn(source, "train", source.values.at(-1), 1);
    assert.deepEqual(task, drawn(source, "train", source.values.at(-1), 1));
    assert.deepEqual(await one.reset(task, 9), await other.reset(task, 9));
    let saved: Json = null;
    const said: string[] = [];
    const stepped: Stepped[] = [];
    for (let step: Stepped | undefined; step?.done !== true && stepped.length < 50; stepped.push(step)) {
      if (stepped.length === 1) saved = JSON.parse(JSON.stringify(await one.state!()));
      said.push(choose(task, await one.state!(), stepped.at(-1)?.messages[0]?.text ?? ""));
      step = await one.step(said.at(-1)!);
    }
    if (saved === null) continue;
    await other.restore!(task, 9, saved);
    for (const [at, text] of said.slice(1).entries())
      assert.deepEqual(await other.step(text), stepped[at + 1], `${task.id}: turn ${at + 2}`);
    await assert.rejects(other.restore!(task, 9, { now: 3 }), /saved state/);
  }
});

test("a turn that is no action changes nothing, costs what the config says, and ends the episode at its limit", async () => {
  for (const [declaration, params] of worlds) {
    const source = made(declaration, { ...params, invalid: -0.25, limit: 3 });
    const { steps, reward } = await (async () => {
      const environment = await open(source);
      const task = drawn(source, "train", undefined, 2);
      await environment.reset(task, 1);
      const before = now(await environment.state!());
      const all = [
        await environment.step("abracadabra"),
        await environment.step(""),
        await environment.step("?!"),
      ];
      assert.deepEqual(now(await environment.state!()), before);
      return { steps: all, reward: all.reduce((sum, step) => sum + (step.reward ?? 0), 0) };
    })();
    assert.deepEqual(
      steps.map(({ done }) => done),
      [false, false, true],
    );
    assert.equal(reward, -0.75);
    assert.deepEqual([steps[2]!.components!["invalid"], steps[2]!.components!["turns"]], [3, 3]);
  }
});

test("each next sub-goal earns λ once, at train tasks only; a success loses `pace` over the turns", async () => {
  const params = {
    missions: ["put_next"],
    rooms: [4],
    bonus: 0.125,
    pace: 0.5,
    limit: 200,
    prompt: "{subgoals}",
  };
  const source = made(gridWorld, { ...params, missions: ["put_next"] });
  const environment = await open(source);
  for (const split of ["train", "evaluate"] as const) {
    const task = drawn(source, split, "4", 4);
    const { reward, steps } = await playedBy(environment, task, grid("turn"));
    const { subgoals } = steps.at(-1)!.components!;
    // The prompt lists them: to each room, to the thing, to have it, to the other's room.
    const listed = task.prompt.split("\n");
    assert.equal(subgoals, listed.length);
    assert.match(listed.join(), /go to the .*pick up the /);
    const picked = steps.findIndex(
      (step) => step.components!["subgoals"]! > listed.findIndex((one) => one.includes("pick up")),
    );
    assert.ok(picked > 0 && steps[picked]!.messages[0]!.text.includes("You carry"));
    assert.ok(steps[0]!.components!["subgoals"]! < 2, "one after the other");
    assert.ok(subgoals! >= 2, `${subgoals}`);
    const success = 1 - (0.5 * steps.length) / 200;
    assert.ok(near(reward, success + (split === "train" ? 0.125 * subgoals! : 0)), `${split}: ${reward}`);
  }
});

test("halving finds one of n numbers within ⌈log₂(n + 1)⌉ guesses, and only guesses that the replies allow earn λ", async () => {
  const source = made(guessNumber, { numbers: [100], bonus: 0.5, limit: 10 });
  const environment = await open(source);
  const task = Array.from({ length: 99 }, (_, i) => drawn(source, "train", "100", i)).find(
    ({ data }) => Number(data["secret"]) > 60,
  )!;
  await environment.reset(task, 1);
  const [first, below, words] = [
    await environment.step("<think>50 or 60?</think> 50."),
    await environment.step("<answer>40</answer>"),
    await environment.step("fifty"),
  ];
  assert.deepEqual([first.messages[0]!.text, first.reward], ["higher", 0.5]);
  assert.deepEqual([below.messages[0]!.text, below.reward], ["higher", undefined]);
  assert.equal(words.messages[0]!.text, "Write a number from 1 to 100.");
});

test("ΔSharpe: the rewards of an episode sum to the Sharpe ratio of what was earned; following a trend beats holding on", async () => {
  assert.equal(sharpe([0.1]), 0);
  assert.equal(sharpe([0.1, 0.1]), 0);
  assert.ok(near(sharpe([0.01, 0.03]), 0.02 / Math.sqrt(0.0002)));
  const source = made(market, { kinds: ["trend"], days: 40, history: 1 });
  const environment = await open(source);
  const follows: Choose = (task, _, observed) =>
    (observed === "" ? task.prompt : observed).includes("+") ? "buy" : "sell";
  let [followed, random] = [0, 0];
  for (let number = 0; number < 30; number++) {
    const task = drawn(source, "train", "trend", number);
    const { reward, steps } = await playedBy(environment, task, follows);
    assert.ok(near(reward, steps.at(-1)!.components!["sharpe"]!, 1e-9));
    followed += reward;
    random += (await playedBy(environment, task, () => "buy")).reward;
  }
  assert.ok(followed > random + 3, `${followed} against ${random}`);
});

test("rewrites keep a program's polynomial, and a written program reads back as itself", () => {
  const random = randomStream(1, "programs");
  for (let number = 0; number < 200; number++) {
    const program = randomProgram(4, random);
    assert.deepEqual(parseProgram(written(program)), program);
    for (const next of rewritten(program))
      assert.ok(areEquivalent(program, next), `${written(program)} ${written(next)}`);
  }
  assert.ok(!areEquivalent(parseProgram("a*(b+c)")!, parseProgram("a*b+c")!));
  assert.ok(areEquivalent(parseProgram("(a+b)*(a+b)")!, parseProgram("a*a+2*(a*b)+b*b")!));
  assert.equal(parseProgram("a+"), null);
});

test("a `yes` without a derivation earns what `proof` leaves", async () => {
  const source = made(programEquivalence, { equivalent: 1, proof: 0.75 });
  const environment = await open(source);
  const task = drawn(source, "train", "2", 0);
  assert.equal((await playedBy(environment, task, () => "answer yes")).reward, 0.25);
  assert.equal((await playedBy(environment, task, () => "answer no")).reward, 0);
});

test("no two things of the closed world have the same facts", () => {
  const told = things.map((thing) => facts.filter((fact) => isTrue(fact, thing)).join());
  assert.equal(new Set(told).size, things.length);
});

test("a maze's whole way is one response where a turn may hold it, and its solution earns 1", async () => {
  for (const declaration of [maze, gridWorld] satisfies Declaration<"task">[]) {
    const source = made<"task", Declaration["params"]>(declaration, { per_turn: 100 });
    const environment = await open(source);
    for (let number = 0; number < 20; number++) {
      const task = drawn(source, "train", undefined, number);
      assert.ok(task.solution, task.id);
      const { reward, steps } = await playedBy(environment, task, () => task.solution!);
      assert.deepEqual([reward, steps.length], [1, 1]);
    }
  }
});
