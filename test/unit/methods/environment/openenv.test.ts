/** An environment on openenv's own server, where a Python has the package. */
import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { createServer } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Task } from "../../../../server/core/task.ts";
import { openenv } from "../../../../server/methods/environment/openenv.ts";
import { socketAddress } from "../../../../server/methods/environment/openenvSocket.ts";
import { replayTurns } from "../../../../server/run/step/generate/replayedTurns.ts";
import { pythonWith } from "../../../support/pythonPackages.ts";
import { thorough } from "../../../support/thorough.ts";
import { until } from "../../../support/until.ts";
import { goneOn, made, temporary } from "../../support.ts";

const packages = { versions: ["3.12", "3.11"], whole: ["openenv==0.10.0", "uvicorn"], alone: [] };
const found = pythonWith("openenv.core.env_server, uvicorn", packages, thorough);
const python = found.kind === "python" ? found.path : "python3";
const skip = found.kind === "none" && found.why;

const server = `import sys, time
import uvicorn
from openenv.core.env_server import Action, Environment, Observation, State, create_fastapi_app

class Guess(Action):
    message: str

class Answer(Observation):
    text: str = ""

class GuessEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._state = State(episode_id="e", step_count=0)

    def reset(self, seed=None, secret=1, **kwargs):
        self.secret, self._state.step_count = secret, 0
        return Answer(text=f"seed {seed}")

    def step(self, action, **kwargs):
        self._state.step_count += 1
        if action.message == "throw":
            raise ValueError("no such guess")
        if action.message == "sleep":
            time.sleep(5)
        won = action.message == str(self.secret)
        return Answer(text="yes" if won else "no", reward=1.0 if won else -0.5, done=won)

    @property
    def state(self):
        return self._state

app = create_fastapi_app(GuessEnvironment, Guess, Answer, max_concurrent_envs=4)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
`;

const started: ChildProcess[] = [];
after(() => started.forEach((child) => child.kill("SIGKILL")));

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

async function serving(): Promise<string> {
  const file = join(temporary(), "server.py");
  writeFileSync(file, server);
  const port = await freePort();
  const child = spawn(python, [file, String(port)], { stdio: ["ignore", "ignore", "inherit"] });
  started.push(child);
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    assert.equal(child.exitCode, null, "the server ended");
    return (await fetch(`${url}/health`).catch(() => undefined))?.ok === true;
  }, "the server of OpenEnv");
  return url;
}

const task = (secret: number): Task => ({
  id: "t",
  source: "s",
  env: "dataset",
  prompt: "",
  data: { secret, other: 1 },
});

test(
  "episodes on openenv's own server: reset with the task's data, steps, rewards, errors, and a slow answer",
  { skip },
  async () => {
    const url = await serving();
    const environments = made(openenv, { url, sessions: 2, timeout: 2 });
    await environments.prepare!();
    assert.equal(environments.most, 2);
    const [one, other] = [await environments.open(), await environments.open()];
    assert.deepEqual(await one.reset(task(3), 7), { messages: [{ role: "user", text: "seed 7" }] });
    await other.reset(task(4), 8);
    assert.deepEqual(await one.step("2"), {
      messages: [{ role: "user", text: "no" }],
      done: false,
      reward: -0.5,
    });
    assert.equal((await other.step('{"message": "4"}')).done, true);
    await assert.rejects(one.step("throw"), /refused `step`: .*no such guess/);
    assert.deepEqual(await one.step("3"), {
      messages: [{ role: "user", text: "yes" }],
      done: true,
      reward: 1,
    });
    await assert.rejects(one.step('{"wrong": 1}'), /refused `step`/);
    await one.reset(task(3), 7);
    await assert.rejects(one.step("sleep"), /timeout after 2 s/);
    assert.deepEqual(await one.reset(task(3), 9), { messages: [{ role: "user", text: "seed 9" }] });
    const turns = goneOn(["2", "5"], ["no", "no"], { seed: 9, prompt: 0, reward: -0.5 });
    const asked = { ...task(3), prompt: "seed 9" };
    await replayTurns(other, asked, turns, (call) => call());
    assert.equal((await other.step("3")).reward, 1, "it goes on after the turns");
    await assert.rejects(
      replayTurns(other, { ...task(2), prompt: "seed 9" }, turns, (call) => call()),
      /to turn 1 it says "yes", where it said "no"/,
    );
    await Promise.all([one.close(), other.close()]);
    const shaped = made(openenv, {
      url,
      action: { message: "{text}" },
      observation: "[{text}|{reward}|{done}]",
    });
    const third = await shaped.open();
    assert.deepEqual((await third.reset(task(1), 1)).messages, [
      { role: "user", text: "[seed 1|null|false]" },
    ]);
    await third.close();
  },
);

test("a server that is not there is an error that names it; addresses take any of their forms", async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  await assert.rejects(made(openenv, { url }).prepare!(), (error) => {
    assert.ok(error instanceof UserError);
    return error.message.includes(url) && error.detail.action?.includes("Start the server") === true;
  });
  const environment = await made(openenv, { url, action: { message: "{text}" } }).open();
  await assert.rejects(environment.reset(task(1), 1), /ECONNREFUSED/);
  await environment.close();
  for (const form of ["http://a:1", "http://a:1/", "ws://a:1/ws"])
    assert.equal(socketAddress(form), "ws://a:1/ws");
  assert.equal(socketAddress("https://a/b/"), "wss://a/b/ws");
});
