import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionMachine, waitBefore, type Session } from "../../../extension/features/connection/state.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { ask } from "../../../shared/daemon/request.ts";
import { runsList } from "../../../shared/protocol/protocol.ts";
import { ErrorCodes, ResponseError } from "vscode-jsonrpc";

class FakeSession implements Session {
  closed = false;
  #listener: (reason: string) => void = () => undefined;
  onClosed(listener: (reason: string) => void): void {
    this.#listener = listener;
  }
  close(): void {
    this.closed = true;
  }
  drop(): void {
    this.#listener("the socket closed");
  }
}

/** Time that moves only when a test moves it. */
class FakeClock {
  readonly waits: number[] = [];
  #next: (() => void) | undefined;
  after = (milliseconds: number, act: () => void): (() => void) => {
    this.waits.push(milliseconds);
    this.#next = act;
    return () => (this.#next = undefined);
  };
  get waiting(): boolean {
    return this.#next !== undefined;
  }
  async pass(): Promise<void> {
    const act = this.#next;
    this.#next = undefined;
    act?.();
    await new Promise((settled) => setImmediate(settled));
  }
}

function rig(open: (shaking: () => void, nth: number) => Promise<FakeSession>) {
  const clock = new FakeClock();
  const states: string[] = [];
  let opened = 0;
  const machine = new ConnectionMachine<FakeSession>({
    open: (shaking) => open(shaking, ++opened),
    clock,
    random: () => 0,
  });
  machine.changed.on(({ state }) => states.push(state));
  return { clock, states, machine, opened: () => opened };
}

test("starts, shakes hands and is ready; a second start does nothing", async () => {
  const { machine, states, opened } = rig((shaking) => {
    shaking();
    return Promise.resolve(new FakeSession());
  });
  await Promise.all([machine.start(), machine.start()]);
  assert.deepEqual(states, ["starting", "handshaking", "ready"]);
  assert.equal(opened(), 1);
});

test("a lost connection is sought again, longer each time, and found", async () => {
  const sessions: FakeSession[] = [];
  const { machine, states, clock } = rig((_, nth) => {
    if (nth === 2 || nth === 3) return Promise.reject(new Error("nobody there"));
    sessions.push(new FakeSession());
    return Promise.resolve(sessions.at(-1)!);
  });
  await machine.start();
  sessions[0]!.drop();
  assert.equal(machine.state.state, "reconnecting");
  await clock.pass();
  await clock.pass();
  await clock.pass();
  assert.deepEqual(states, ["starting", "ready", "reconnecting", "reconnecting", "reconnecting", "ready"]);
  assert.deepEqual(clock.waits, [100, 200, 400]);
  assert.equal(machine.session, sessions[1]);
});

test("a daemon that ends while the window introduces itself is sought again", async () => {
  const { machine, states, clock } = rig((shaking, nth) => {
    shaking();
    if (nth === 1) return Promise.reject(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    return Promise.resolve(new FakeSession());
  });
  await machine.start();
  await clock.pass();
  assert.deepEqual(states, ["starting", "handshaking", "reconnecting", "ready"]);
});

for (const [code, message] of [
  [ErrorCodes.MessageWriteError, "write EPIPE"],
  [ErrorCodes.MessageReadError, "read ECONNRESET"],
  [ErrorCodes.PendingResponseRejected, "Pending response rejected since connection got disposed"],
  [ErrorCodes.ConnectionInactive, "Client is not running"],
] as const)
  test(`so is one that ends while the runs are listed: ${message}`, async () => {
    const ended = { sendRequest: () => Promise.reject(new ResponseError(code, message)) };
    const { machine, states, clock } = rig(async (shaking, nth) => {
      shaking();
      if (nth === 1) await ask(ended, runsList, {});
      return new FakeSession();
    });
    await machine.start();
    await clock.pass();
    assert.deepEqual(states, ["starting", "handshaking", "reconnecting", "ready"]);
  });

test("what trying again cannot fix fails at once and says what does", async () => {
  const { machine, clock } = rig(() =>
    Promise.reject(new UserError("Compute is not set up.", { code: "set-up", action: "Set it up." })),
  );
  await machine.start();
  assert.deepEqual(machine.state, {
    state: "failed",
    reason: "Compute is not set up. Set it up.",
    remedies: ["setUp"],
  });
  assert.equal(clock.waiting, false);
});

test("gives up after about a minute, and starts again when asked", async () => {
  let there = true;
  const sessions: FakeSession[] = [];
  const { machine, clock } = rig(() => {
    if (!there) return Promise.reject(new Error("gone"));
    sessions.push(new FakeSession());
    return Promise.resolve(sessions.at(-1)!);
  });
  await machine.start();
  there = false;
  sessions[0]!.drop();
  for (let i = 0; i < 40 && machine.state.state === "reconnecting"; i++) await clock.pass();
  assert.equal(machine.state.state, "failed");
  const total = clock.waits.reduce((a, b) => a + b, 0);
  assert.ok(total > 30_000 && total < 90_000, `${total} ms`);
  there = true;
  await machine.start();
  assert.equal(machine.state.state, "ready");
});

test("a stop while opening closes what was opened; a drop after a stop is no news", async () => {
  let finish: (session: FakeSession) => void = () => undefined;
  const { machine, states, clock } = rig(() => new Promise((resolve) => (finish = resolve)));
  const started = machine.start();
  machine.stop();
  const session = new FakeSession();
  finish(session);
  await started;
  assert.equal(session.closed, true);
  session.drop();
  assert.deepEqual(states, ["starting", "disconnected"]);
  assert.equal(clock.waiting, false);
});

test("waits double up to five seconds, with up to 30 % of jitter", () => {
  assert.equal(
    waitBefore(1, () => 0),
    100,
  );
  assert.equal(
    waitBefore(4, () => 0),
    800,
  );
  assert.equal(
    waitBefore(20, () => 0),
    5_000,
  );
  assert.equal(
    waitBefore(20, () => 1),
    3_500,
  );
});

test("a setting that names no program fails at once with its own remedy, and without the end of any log", async () => {
  const { machine } = rig(() =>
    Promise.reject(
      new UserError("The setting gradus.nodePath names /no/node.\nserving /w/.gradus\nrun a started", {
        code: "node-path",
        action: "Correct it.",
      }),
    ),
  );
  await machine.start();
  assert.deepEqual(machine.state, {
    state: "failed",
    reason: "The setting gradus.nodePath names /no/node. Correct it.",
    remedies: ["nodePath"],
  });
});
