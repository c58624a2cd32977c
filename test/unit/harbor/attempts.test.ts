/** Attempts of a policy in Harbor tasks: none is rewarded, and none reaches this machine. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { Exceeded, HarborEpisode, NoReward } from "../../../server/lib/harbor/episode.ts";
import { Namespaces } from "../../../server/lib/harbor/namespaces.ts";
import { readHarborTask } from "../../../server/lib/harbor/taskFolder.ts";
import { harborPlay } from "../../../server/methods/tasks/harbor/play.ts";
import { some } from "../../support/thorough.ts";
import { temporary } from "../support.ts";
import { attempts } from "./attempts.ts";

const skip = await Namespaces.open({ megabytes: 16, memory: 64 }).then(
  async (machine) => (await machine.close(), false as const),
  (error: unknown) => (error instanceof UserError ? error.message : String(error)),
);

/** Its tests start a shell and a Python, as most do. */
const task: Readonly<Record<string, string>> = {
  "task.toml": '[environment]\nmemory_mb = 256\nstorage_mb = 200\nnetwork_mode = "no-network"\n',
  "instruction.md": "Write the greeting to hello.txt\n",
  "environment/Dockerfile": "FROM debian:12-slim\nWORKDIR /app\n",
  "tests/test.sh":
    'bash -c true; python3 -c pass 2> /dev/null\nif [ "$(cat /app/hello.txt 2> /dev/null)" = "hello world" ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n',
};
function folder(): string {
  const made = temporary();
  for (const [name, text] of Object.entries(task)) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  }
  return made;
}

/** What it earned; undefined: it was refused, which earns nothing. */
async function earned(command: string): Promise<number | undefined> {
  const episode = await HarborEpisode.open(readHarborTask(folder()));
  try {
    await episode.run(command, 10);
    return (await episode.grade()).reward;
  } catch (error) {
    if (error instanceof Exceeded || error instanceof NoReward) return undefined;
    throw error;
  } finally {
    await episode.close();
  }
}

test("there are as many as that, each with a name of its own", () => {
  assert.ok(attempts.length >= 30);
  assert.equal(new Set(attempts.map(({ name }) => name)).size, attempts.length);
});

for (const { name, kind, tries, command } of some(attempts, 12))
  test(`${kind}: ${name}: ${tries}`, { skip }, async () => {
    assert.ok([0, undefined].includes(await earned(command)));
    for (const place of ["/usr", "/opt", "/"]) assert.ok(!existsSync(join(place, "gradus-escaped")));
  });

/** Holds 600 MB where 256 are allowed, in ways that no process maps. */
const hoarding: Readonly<Record<string, string>> = {
  memfd: `python3 -c "
import os, time
fds = [os.memfd_create(str(i)) for i in range(6)]
for fd in fds:
    for _ in range(100): os.write(fd, b'x' * (1 << 20))
time.sleep(60)"`,
  sysv: `python3 -c "
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
for i in range(6):
    shm = libc.shmget(0, 100 << 20, 0o1600)
    at = libc.shmat(shm, None, 0)
    ctypes.memset(at, 1, 100 << 20)
    libc.shmdt(ctypes.c_void_p(at))
time.sleep(60)"`,
};

for (const [name, command] of Object.entries(hoarding))
  test(`memory that no process maps (${name}) counts`, { skip }, async () => {
    const episode = await HarborEpisode.open(readHarborTask(folder()));
    try {
      await assert.rejects(episode.run(command, 30), Exceeded);
    } finally {
      await episode.close();
    }
  });

test("to go over the memory is an error once, and a wrong answer from then on", { skip }, async () => {
  const own = readHarborTask(folder());
  const environments = harborPlay(new Map([["a", own]]), { seconds: 30, most: 1000, machines: 1 });
  const greedy = "```bash\npython3 -c \"x = b'x' * (700 << 20); import time; time.sleep(60)\"\n```";
  const play = await environments.open();
  const asked = { id: "a", source: "a", prompt: "", data: {} };
  await play.reset(asked as never, 1);
  await assert.rejects(Promise.resolve(play.step(greedy)), Exceeded);
  await play.reset(asked as never, 1);
  const { done, reward } = await play.step(greedy);
  assert.deepEqual([done, reward], [true, 0]);
  await play.close?.();
});
