/** The service of exported projects as a process: what it answers, what it refuses, and what a kill leaves. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  appendFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  decisionsOf,
  projectOf,
  serviceProgram,
  startService,
  type Reply,
  type Service,
} from "../../../support/service.ts";

const config = `tasks: [{ env: reverse_text, lengths: [2, 3, 4] }]
curriculum: { signal: success_rate, estimator: { use: ema, alpha: 0.5 }, sampler: { use: boltzmann, temperature: 0.2 }, admission: { use: success_band, low: 0.1, high: 0.9 } }
rollout: { prompts: 3, group: 4 }
reward: { terms: { right: { use: exact_match }, brief: { use: length, shape: linear, weight: 0.1 } } }
`;
const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
function project(text = config, files: Readonly<Record<string, string>> = {}): string {
  const folder = projectOf(text, files);
  made.push(folder);
  return folder;
}

const tasksOf = (reply: Reply): Reply[] => reply["tasks"] as Reply[];
/** Outcomes that differ from step to step and from arm to arm. */
const outcomes = (step: number, tasks: readonly Reply[]): object => ({
  step,
  groups: tasks.map(({ id, arm }, i) => ({
    task: id,
    rewards: [0, 1, 2, 3].map((rollout) => ((step + i + rollout + String(arm).length) % 3 === 0 ? 1 : 0)),
    lengths: [3, 4, 5, 6],
  })),
});

async function step(service: Service, number: number): Promise<{ drawn: Reply; decision: Reply }> {
  const [status, drawn] = await service.ask("/draw", { step: number });
  assert.equal(status, 200, JSON.stringify(drawn));
  const [observed, decision] = await service.ask("/observe", outcomes(number, tasksOf(drawn)));
  assert.equal(observed, 200, JSON.stringify(decision));
  return { drawn, decision };
}

/** What a service that nothing disturbs decides of so many steps. */
async function undisturbed(steps: number): Promise<Reply[]> {
  const folder = project();
  const service = await startService(folder);
  for (let at = 0; at < steps; at++) await step(service, at);
  await service.end();
  return decisionsOf(folder);
}

test("a draw names tasks with what a trainer needs, and a second question gets the same ones", async () => {
  const service = await startService(project());
  const [, drawn] = await service.ask("/draw", { step: 0, prompts: 2 });
  const task = tasksOf(drawn)[0]!;
  assert.equal(tasksOf(drawn).length, 2);
  assert.deepEqual([drawn["step"], drawn["round"], drawn["stage"], drawn["drawn_after"]], [0, 0, "rl", -1]);
  assert.match(String(task["arm"]), /^reverse_text\/[234]$/);
  assert.equal(String(task["answer"]), [...String((task["data"] as Reply)["text"])].reverse().join(""));
  assert.deepEqual((await service.ask("/draw", { step: 0 }))[1], drawn);
  const [, more] = await service.ask("/draw", { step: 0, round: 1, prompts: 1 });
  assert.equal(tasksOf(more).length, 1);
  assert.deepEqual((await service.ask("/draw", { step: 0, round: 1, prompts: 1 }))[1], more);
  const [, state] = await service.ask("/state");
  assert.deepEqual(state, {
    drawn: 0,
    observed: -1,
    steps: [],
    terms: ["right", "brief"],
    scored: ["right", "brief"],
  });
  assert.equal(await service.end(), 0, service.said());
  assert.equal(existsSync(service.ready), false);
});

test("outcomes move estimates; the same report changes nothing, another is refused, and files are private", async () => {
  const folder = project();
  const service = await startService(folder);
  assert.equal(statSync(service.ready).mode & 0o777, 0o600);
  const { drawn, decision } = await step(service, 0);
  const [, again] = await service.ask("/observe", outcomes(0, tasksOf(drawn)));
  assert.deepEqual(again, decision);
  assert.equal(decisionsOf(folder).length, 1);
  const estimates = Object.values(decision["estimates"] as Reply);
  assert.ok(estimates.some((one) => typeof one === "number" && one > 0));
  const rejected = decision["rejected"] as Reply[];
  for (const one of rejected) assert.match(String(one["reason"]), /success rate/);
  const admitted = decision["admitted"] as string[];
  assert.equal(admitted.length + rejected.length, 3);
  const [status, other] = await service.ask("/observe", { step: 0, groups: [] });
  assert.deepEqual([status, other["code"], other["expected"]], [409, "service-order", 1]);
  await service.end();
});

test("rewards by term are weighed as the config says; a rollout without any leaves its group", async () => {
  const service = await startService(project());
  const [, drawn] = await service.ask("/draw", { step: 0, prompts: 1 });
  const task = tasksOf(drawn)[0]?.["id"];
  const groups = [{ task, rewards: { right: [1, 0, null, "NaN"], brief: [1, 1, null, 1] } }];
  const [, decision] = await service.ask("/observe", { step: 0, groups });
  // Of the two rollouts that have a reward one is right; the estimate moves half of the way from 0.
  const arm = String(tasksOf(drawn)[0]?.["arm"]);
  assert.equal((decision["estimates"] as Reply)[arm], 0.25);
  await service.end();
});

test("what is wrong is refused by name, and changes nothing", async () => {
  const service = await startService(project());
  const [, drawn] = await service.ask("/draw", { step: 0 });
  const [first] = tasksOf(drawn).map(({ id }) => id);
  const bad: readonly (readonly [string, object | string, number, RegExp])[] = [
    ["/draw", "{", 400, /not JSON/],
    ["/draw", { prompts: 2 }, 400, /"step"/],
    ["/draw", { step: 0, prompts: 0 }, 400, /"prompts"/],
    ["/draw", { step: 0, prompts: 2 }, 400, /was drawn with 3 prompts, not 2/],
    ["/draw", { step: 0, round: 4 }, 409, /round 1, not 4/],
    ["/draw", { step: 7 }, 409, /the next step to draw is 1/],
    ["/draw", { step: 0, prompt: 2 }, 400, /prompt/],
    ["/observe", { step: 0, groups: [{ task: 1, rewards: [1] }] }, 400, /"groups\[0\]\.task"/],
    ["/observe", { step: 0, groups: [{ task: first, rewards: "many" }] }, 400, /"groups\[0\]\.rewards"/],
    [
      "/observe",
      { step: 0, groups: [{ task: "other", rewards: [1] }] },
      400,
      /did not draw the task "other"/,
    ],
    [
      "/observe",
      {
        step: 0,
        groups: [
          { task: first, rewards: [1] },
          { task: first, rewards: [1] },
        ],
      },
      400,
      /reported twice/,
    ],
    [
      "/observe",
      { step: 0, groups: [{ task: first, rewards: { rihgt: [1] } }] },
      400,
      /no reward term "rihgt", did you mean "right"/,
    ],
    [
      "/observe",
      { step: 0, groups: [{ task: first, rewards: [1, 0], lengths: [1] }] },
      400,
      /lengths has 1 entries/,
    ],
    ["/observe", { step: 1, groups: [] }, 409, /the next step to observe is 0/],
    ["/restore", { step: 3 }, 500, /no state of step 3/],
    ["/restore", { step: -2 }, 400, /"step"/],
    ["/score", { answers: [{ response: "x" }] }, 400, /"answers\[0\]\.task"/],
  ];
  for (const [path, body, status, words] of bad) {
    const [found, said] = await service.ask(path, body);
    assert.equal(found, status, `${path} ${JSON.stringify(body)}: ${JSON.stringify(said)}`);
    assert.match(String(said["error"]), words);
    assert.ok(said["action"], String(said["error"]));
  }
  assert.equal((await service.ask("/other"))[0], 404);
  assert.equal((await service.ask("/draw"))[0], 405);
  const { decision } = await step(service, 0);
  assert.deepEqual(decision, (await undisturbed(1))[0]);
  await service.end();
});

test("only who has the token is served, and only programs on this machine", async () => {
  const service = await startService(project());
  const authorization = "Bearer wrong";
  assert.equal((await service.ask("/draw", { step: 0 }, { authorization }))[0], 401);
  assert.equal((await service.ask("/state", undefined, { authorization: "" }))[0], 401);
  assert.equal((await service.ask("/state", undefined, { origin: "https://example.com" }))[0], 403);
  assert.equal((await service.ask("/healthz", undefined, { authorization }))[0], 200);
  const byQuery = await fetch(`${service.url}/state?token=${service.token}`);
  assert.equal(byQuery.status, 200);
  await service.end();
});

test("killed at any moment, no observed step is lost and every draw is the same", async () => {
  const whole = await undisturbed(5);
  const folder = project();
  let service = await startService(folder);
  const restart = async (): Promise<void> => {
    await service.end("SIGKILL");
    service = await startService(folder);
  };
  for (let at = 0; at < 5; at++) {
    const [, drawn] = await service.ask("/draw", { step: at });
    await restart();
    // A killed draw was journaled, or is drawn again.
    assert.deepEqual((await service.ask("/draw", { step: at }))[1], drawn);
    const body = outcomes(at, tasksOf(drawn));
    await service.ask("/observe", body);
    await restart();
    assert.equal((await service.ask("/state"))[1]["observed"], at);
    assert.equal((await service.ask("/observe", body))[0], 200);
  }
  await service.end("SIGKILL");
  assert.deepEqual(decisionsOf(folder), whole);
});

test("moved to another folder, it goes on as it would have", async () => {
  const whole = await undisturbed(4);
  const folder = project();
  const service = await startService(folder);
  for (const at of [0, 1]) await step(service, at);
  await service.end();
  const other = `${folder}-moved`;
  made.push(other);
  renameSync(folder, other);
  const again = await startService(other);
  for (const at of [2, 3]) await step(again, at);
  assert.deepEqual(decisionsOf(other), whole);
  await again.end();
});

test("half a line and a lost line are put right at the next start", async () => {
  const whole = await undisturbed(2);
  const folder = project();
  const service = await startService(folder);
  for (const at of [0, 1]) await step(service, at);
  await service.ask("/draw", { step: 2 });
  await service.end("SIGKILL");
  const file = join(folder, "out", "curriculum", "decisions.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  truncateSync(file, Buffer.byteLength(`${lines[0]}\n`) + 20);
  appendFileSync(join(folder, "out", "curriculum", "draws.jsonl"), '{"step":3,"pro');
  const again = await startService(folder);
  assert.deepEqual((await again.ask("/state"))[1]["drawn"], 2);
  assert.deepEqual(decisionsOf(folder), whole);
  await again.end();
});

test("restored, it decides as if what came after had not been", async () => {
  const whole = await undisturbed(5);
  const folder = project();
  const service = await startService(folder, ["--keep", "4"]);
  for (let at = 0; at < 4; at++) await step(service, at);
  // One draw ahead, as trainers that fetch early do.
  await service.ask("/draw", { step: 4 });
  assert.deepEqual((await service.ask("/restore", { step: 1 }))[1], { drawn: 1, observed: 1, steps: [0, 1] });
  for (let at = 2; at < 5; at++) await step(service, at);
  assert.deepEqual(decisionsOf(folder).slice(-3), whole.slice(2));
  assert.deepEqual(readdirSync(join(folder, "out", "curriculum", "states")).length, 4);
  const [status, lost] = await service.ask("/restore", { step: 0 });
  assert.equal(status, 500);
  assert.match(String(lost["action"]), /Restore one of 1 to 4/);
  assert.deepEqual((await service.ask("/restore", { step: -1 }))[1], { drawn: -1, observed: -1, steps: [] });
  const { decision } = await step(service, 0);
  assert.deepEqual(decision, whole[0]);
  await service.end();
});

test("draws that run ahead know the outcomes that there were, and say which", async () => {
  const folder = project();
  const service = await startService(folder);
  const ahead = await Promise.all([0, 1, 2].map((at) => service.ask("/draw", { step: at })));
  for (const [at, [, drawn]] of ahead.entries()) {
    assert.equal(drawn["drawn_after"], -1);
    const [status, decision] = await service.ask("/observe", outcomes(at, tasksOf(drawn)));
    assert.deepEqual([status, decision["drawn_after"]], [200, -1]);
  }
  const [, next] = await service.ask("/draw", { step: 3 });
  assert.equal(next["drawn_after"], 2);
  await service.end();
});

test("the config's rewards are scored, a user's own in a process of this file", async () => {
  const own =
    "export const score = ({ response, task }) => { if (response === 'boom') throw new Error('cannot score this'); return response.length / task.answer.length; };";
  const folder = project(
    "tasks: [{ env: reverse_text, lengths: [4] }]\nreward: { terms: { right: exact_match, own: { use: ./own.mjs, weight: 0.5 } } }\n",
    { "own.mjs": `// gradus: bundled\n${own}\n` },
  );
  const service = await startService(folder);
  const [, drawn] = await service.ask("/draw", { step: 0, prompts: 1 });
  const [task] = tasksOf(drawn);
  const answer = String(task?.["answer"]);
  const answers = [answer, "xx", "boom"].map((response) => ({ task, response }));
  const [, scored] = await service.ask("/score", { answers });
  assert.deepEqual(scored["rewards"], [1.5, 0.25, null]);
  assert.deepEqual(scored["terms"], { right: [1, 0, 0], own: [1, 0.5, null] });
  const prompt = `<|user|>${String(task?.["prompt"])}<|assistant|>`;
  const [status, reply] = await service.ask("/reward", { query: [`${prompt}${answer}`], prompts: [prompt] });
  assert.deepEqual(
    [status, reply],
    [200, { rewards: [1.5], scores: [1], extra_logs: { right: [1], own: [1] } }],
  );
  const [failed, why] = await service.ask("/get_reward", { query: [`${prompt}boom`], prompts: [prompt] });
  assert.equal(failed, 500);
  assert.match(String(why["error"]), /own: .*cannot score this/);
  await service.end();
});

test("it ends with its parent, and two never hold one state", async () => {
  const folder = project();
  const parent = spawn(process.execPath, ["-e", "setInterval(() => 0, 1000)"], { stdio: "ignore" });
  const service = await startService(folder, ["--parent", String(parent.pid)]);
  const second = spawn(process.execPath, [await serviceProgram(), folder], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  second.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const [code] = await once(second, "close");
  assert.equal(code, 1);
  assert.match(said, /another service \(process \d+\) holds this state/);
  // What the first has made ready is its own.
  assert.ok(existsSync(service.ready));
  parent.kill("SIGKILL");
  assert.deepEqual(await once(service.child, "close"), [0, null]);
  assert.equal(existsSync(service.ready), false);
});

test("a config or an option that is wrong is said, with what to do", async () => {
  const run = async (words: readonly string[]): Promise<readonly [number, string]> => {
    const child = spawn(process.execPath, [await serviceProgram(), ...words], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const [code] = await once(child, "close");
    return [Number(code), said];
  };
  const wrong = project(
    "tasks: [{ env: reverse_text }]\nrollout: { prompts: many }\nreward: { terms: { a: exact_match } }\n",
  );
  const [code, said] = await run([wrong]);
  assert.equal(code, 1);
  assert.match(said, /config\.gradus\.yaml: .*rollout\.prompts/);
  const supervised = project(
    "stages: [{ name: warm-up, kind: sft, steps: 2 }]\ntasks: [{ env: reverse_text }]\n",
  );
  assert.match((await run([supervised]))[1], /no rl stage/);
  assert.equal((await run([]))[0], 2);
  assert.match((await run([wrong, "--port", "x"]))[1], /--port must be a whole number/);
  writeFileSync(join(wrong, "service", "config.gradus.yaml"), config);
  const service = await startService(wrong);
  await step(service, 0);
  await service.end();
  const state = join(wrong, "out", "curriculum", "states", "0.state");
  truncateSync(state, 40);
  const [damaged, why] = await run([wrong]);
  assert.equal(damaged, 1);
  assert.match(why, /the state of step 0 is damaged.*Remove the file/);
});
