/** Harbor task folders of our own: what is refused, what an episode can and cannot do, and how it is graded. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { checkHarborFolder } from "../../../server/lib/harbor/check.ts";
import { Exceeded, HarborEpisode } from "../../../server/lib/harbor/episode.ts";
import { Namespaces } from "../../../server/lib/harbor/namespaces.ts";
import { readHarborTask } from "../../../server/lib/harbor/taskFolder.ts";
import { turnOf } from "../../../server/methods/tasks/harbor/commands.ts";
import { harbor } from "../../../server/methods/tasks/harbor/harbor.ts";
import { randomStream } from "../../../server/lib/random.ts";
import { made, temporary } from "../support.ts";

/** Why no episode can be played here; false where one can. */
const withoutNamespaces: string | false = await Namespaces.open({ megabytes: 16, memory: 64 }).then(
  async (machine) => (await machine.close(), false as const),
  (error: unknown) => (error instanceof UserError ? error.message : String(error)),
);
const hello: Readonly<Record<string, string>> = {
  "task.toml":
    '[environment]\ncpus = 1\nnetwork_mode = "no-network"\n[environment.env]\nNAME = "${NAME:-world}"\n',
  "instruction.md": "Write the greeting to hello.txt\n",
  "environment/Dockerfile":
    'FROM debian:12-slim\n# what is there already\nRUN apt-get update && apt-get install -y \\\n    bash coreutils \\\n && rm -rf /var/lib/apt/lists/*\nWORKDIR /app\nENV GREETING=hello OTHER="two words"\nCOPY data.txt more/ data/\n',
  "environment/data.txt": "data\n",
  "environment/more/inner.txt": "inner\n",
  "solution/solve.sh": 'echo "$GREETING $NAME" > hello.txt\n',
  "tests/test.sh":
    'if [ "$(cat hello.txt)" = "hello world" ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n',
};

/** A task folder with these files instead of those of `hello`; null: left out. */
function folderOf(files: Readonly<Record<string, string | null>> = {}, folder = temporary()): string {
  for (const [name, text] of Object.entries({ ...hello, ...files })) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

async function playing(
  files: Readonly<Record<string, string | null>>,
  work: (episode: HarborEpisode) => Promise<void>,
): Promise<void> {
  const episode = await HarborEpisode.open(readHarborTask(folderOf(files)));
  try {
    await work(episode);
  } finally {
    await episode.close();
  }
}

const skip = withoutNamespaces;

test("the solution earns exactly 1 and doing nothing exactly 0", { skip }, async () => {
  assert.equal((await checkHarborFolder(folderOf())).kind, "passed");
  const generous = await checkHarborFolder(
    folderOf({ "tests/test.sh": "echo 1 > /logs/verifier/reward.txt" }),
  );
  assert.match(generous.kind === "failed" ? generous.message : "", /doing nothing earns 1, not 0/);
  const silent = await checkHarborFolder(folderOf({ "tests/test.sh": "echo no pytest here; exit 3" }));
  assert.match(
    silent.kind === "failed" ? silent.message : "",
    /left with 3\) wrote no number .* no pytest here/,
  );
});

test("WORKDIR, COPY and ENV hold, files stay from one command to the next", { skip }, async () => {
  await playing({}, async (episode) => {
    const output = async (command: string): Promise<string> => (await episode.run(command, 20)).output;
    assert.equal(
      await output('pwd; echo "$GREETING|$OTHER|$NAME"; ls data; cat data/data.txt'),
      "/app\nhello|two words|world\ndata.txt\ninner.txt\ndata\n",
    );
    assert.equal((await episode.run("echo kept > kept.txt; exit 4", 20)).code, 4);
    assert.equal(await output("cat kept.txt; seq 100000 | tail -1"), "kept\n100000\n");
    const late = await episode.run("echo first; sleep 60", 0.5);
    assert.deepEqual([late.isLate, late.output], [true, "first\n"]);
  });
});

test(
  "a planted reward file, tests and a background process that writes it again earn nothing",
  { skip },
  async () => {
    await playing({}, async (episode) => {
      const plant =
        'echo 1 > /logs/verifier/reward.txt; echo \'{"reward": 1}\' > /logs/verifier/reward.json; echo "echo 1 > /logs/verifier/reward.txt" > /tests/test.sh';
      await episode.run(plant, 20);
      await episode.run(
        "(while :; do echo 1 > /logs/verifier/reward.txt; echo 1 > /logs/verifier/reward.json; done) & disown",
        20,
      );
      await episode.run("setsid sh -c 'while :; do echo 1 > /logs/verifier/reward.json; done' &", 20);
      const { reward, components } = await episode.grade();
      assert.deepEqual([reward, components], [0, {}]);
      assert.doesNotMatch((await episode.run("ps -eo args", 20)).output, /reward/);
    });
  },
);

test("the machine is not visible, not writable, and cannot be left", { skip }, async () => {
  const secret = temporary();
  writeFileSync(join(secret, "secret.txt"), "secret");
  await playing({}, async (episode) => {
    const run = (command: string): ReturnType<HarborEpisode["run"]> => episode.run(command, 20);
    assert.notEqual((await run(`cat ${join(secret, "secret.txt")}`)).code, 0);
    assert.equal((await run("ls -A /root /home /tmp | grep -v : | tr -d '\\n'")).output, "");
    assert.notEqual((await run("cat /etc/shadow")).code, 0);
    for (const command of [
      "touch /usr/bin/planted",
      "touch /etc/planted",
      "mv /bin /elsewhere",
      "umount /usr",
      "mount -t tmpfs tmpfs /usr",
      "nsenter --target 1 --mount true",
      "chroot / true",
      `kill -0 ${process.pid}`,
      "echo x > /proc/sys/kernel/hostname",
    ])
      assert.notEqual((await run(command)).code, 0, command);
    assert.match(
      (await run("cat < /dev/tcp/127.0.0.1/22; echo left; ls /sys/class/net 2>&1 | wc -l")).output,
      /left/,
    );
    assert.equal((await run("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n'")).output, "lo");
  });
  assert.ok(!existsSync("/usr/bin/planted"));
});

const small = { "task.toml": "[environment]\nmemory_mb = 96\ncpus = 1\n" };
/** Holds so many MB in each of some processes. */
const holds = (megabytes: number, processes = 1, seconds = 30): string =>
  `for i in $(seq ${processes}); do perl -e '$x = "x" x (${megabytes} << 20); sleep ${seconds}' & done; wait`;

test("an episode that takes more memory than its folder asks for ends by name", { skip }, async () => {
  await playing(small, async (episode) => {
    assert.equal((await episode.run(holds(24, 1, 1), 20)).code, 0);
    const bomb = episode.run(holds(200), 20);
    await assert.rejects(bomb, (error: Error) => {
      assert.ok(error instanceof Exceeded);
      return /: its processes took \d+ MB of memory, and may take 96 MB$/.test(error.message);
    });
    await assert.rejects(episode.grade(), Exceeded);
  });
  await playing(small, async (episode) => {
    // Nothing there ends or stops what looks; no single process takes more than it may.
    await episode.run("kill -9 1; kill -STOP 1; exec 9< /proc/1/fd/3", 20);
    await assert.rejects(episode.run(holds(16, 5), 20), Exceeded);
  });
  await playing(small, async (episode) => {
    await episode.run(`(sleep 0.3; ${holds(200)}) > /dev/null 2>&1 & disown`, 20);
    await assert.rejects(episode.run("sleep 20", 20), Exceeded, "in the background");
  });
});

test("what a process may take at once, processors, and the memory of its folders", { skip }, async () => {
  await playing(small, async (episode) => {
    const output = async (command: string): Promise<string> => (await episode.run(command, 20)).output;
    assert.equal(await output("nproc"), "1\n");
    assert.equal(await output("ulimit -d; ulimit -Hu"), `${(96 + 512) * 1024}\n4096\n`);
    assert.match(await output("ulimit -d unlimited"), /cannot modify limit|not permitted/);
    assert.match(await output("head -c 80M /dev/zero > /dev/shm/x"), /No space left/);
    // The first process buries them between two looks at the memory, whenever those come.
    const dead = "(sleep 0.1 &); sleep 0.2; while ps -eo stat | grep -q Z; do sleep 0.05; done; echo none";
    assert.equal(await output(dead), "none\n", "the dead are gone");
    // Pages that processes share are counted once.
    const shared = `perl -e '$x = "x" x (20 << 20); for (1..4) { fork // die; } sleep 1'`;
    assert.equal((await episode.run(shared, 20)).code, 0);
  });
});

test("reward.json with more numbers, and what is no reward", { skip }, async () => {
  const written = (text: string): Record<string, string> => ({
    "tests/test.sh": `echo '${text}' > /logs/verifier/reward.json`,
  });
  await playing(written('{"reward": 0.25, "style": 1}'), async (episode) => {
    const { reward, components } = await episode.grade();
    assert.deepEqual([reward, components], [0.25, { style: 1 }]);
  });
  await playing(written('{"reward": "high"}'), async (episode) => {
    await assert.rejects(episode.grade(), /wrote no number/);
  });
  await playing({ "tests/test.sh": "ln -s /etc/hostname /logs/verifier/reward.txt" }, async (episode) => {
    await assert.rejects(episode.grade(), /wrote no number/);
  });
});

test("a folder that asks for more than there is here is refused by its name and line", () => {
  const docker = (line: string): Record<string, string> => ({
    "environment/Dockerfile": `FROM debian:12\n${line}\n`,
  });
  const toml = (line: string): Record<string, string> => ({ "task.toml": `[environment]\n${line}\n` });
  const cases: readonly (readonly [Record<string, string | null>, RegExp, string, number])[] = [
    [toml("gpus = 1"), /environment.gpus asks for 1 GPUs/, "task.toml", 2],
    [toml('network_mode = "public"'), /asks for a network \(public\)/, "task.toml", 2],
    [toml('network_mode = "allowlist"\nallowed_hosts = ["a.com"]'), /asks for a network/, "task.toml", 2],
    [toml("allow_internet = true"), /asks for a network/, "task.toml", 2],
    [toml("cpus = 1000"), /1000 processors/, "task.toml", 2],
    [toml('memory = "9000G"'), /9000G of memory/, "task.toml", 2],
    [toml('docker_image = "mine:1"'), /the image mine:1/, "task.toml", 2],
    [toml('[[environment.mcp_servers]]\nname = "a"\nurl = "b"'), /MCP servers/, "task.toml", 2],
    [toml('[environment.healthcheck]\ncommand = "true"'), /a healthcheck/, "task.toml", 2],
    [toml('[verifier]\nenvironment_mode = "separate"'), /a container of its own/, "task.toml", 3],
    [toml('env = { KEY = "${SECRET}" }'), /env.KEY asks for a variable of this machine/, "task.toml", 1],
    [toml("gpus = "), /cannot be read/, "task.toml", 2],
    [docker("RUN curl https://a.b | sh"), /does more than install/, "environment/Dockerfile", 2],
    [
      docker("RUN apt-get install -y no-such-package-here"),
      /no-such-package-here is not on this machine/,
      "environment/Dockerfile",
      2,
    ],
    [
      docker("RUN pip install no-such-module==1.0"),
      /no-such-module==1.0 is not on this machine/,
      "environment/Dockerfile",
      2,
    ],
    [docker("USER app"), /USER is not something/, "environment/Dockerfile", 2],
    [docker("COPY --from=build /a /b"), /without options/, "environment/Dockerfile", 2],
    [docker("COPY ../secret /b"), /only files of the folder/, "environment/Dockerfile", 2],
    [
      { "environment/Dockerfile": "FROM nvidia/cuda:12\n" },
      /only a plain debian, ubuntu or python image/,
      "environment/Dockerfile",
      1,
    ],
    [
      { "environment/docker-compose.yaml": "services: {}\n" },
      /containers of its own/,
      "environment/docker-compose.yaml",
      1,
    ],
    [{ "tests/test.sh": null }, /tests\/test.sh is missing/, "tests/test.sh", 1],
  ];
  for (const [files, message, file, line] of cases) {
    const folder = folderOf(files);
    assert.throws(
      () => readHarborTask(folder),
      (error: { message: string; file: string; line: number }) => {
        assert.match(error.message, message);
        assert.deepEqual([error.file, error.line], [join(folder, file), line], error.message);
        return true;
      },
    );
  }
});

test("the command of a turn: a call of bash, the last block, or the end", () => {
  assert.deepEqual(turnOf("I look.\n```bash\nls -la\n```\nand\n```\npwd\n```"), {
    kind: "command",
    command: "pwd",
    role: "user",
  });
  assert.deepEqual(turnOf('<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'), {
    kind: "command",
    command: "ls",
    role: "tool",
  });
  assert.equal(turnOf('<tool_call>{"name": "bash"}</tool_call>').kind, "malformed");
  assert.equal(turnOf("<think>```bash\nrm x\n```</think>I am done.").kind, "done");
});

test(
  "a source of tasks: played by turns, graded when the policy is done or out of turns",
  { skip },
  async () => {
    const folder = temporary();
    for (const name of ["a", "b", "c", "d", "e", "f"]) folderOf({}, join(folder, "tasks", name));
    const source = made(harbor, { harbor: "tasks", most: 100 }, { folder, name: "shell" });
    const task = source.draw("train", undefined, randomStream("tasks"))!;
    assert.match(
      task.prompt,
      /^Write the greeting to hello.txt\n\nYou work in a shell\. .*each begins in \/app\./s,
    );
    const environment = await source.play!.open();
    try {
      await environment.reset(task, 1);
      const said = async (text: string): Promise<string> => {
        const { done, messages } = await environment.step(text);
        assert.equal(done, false);
        return messages[0]!.text;
      };
      assert.equal(await said("```bash\nls; false\n```"), "data\n(exit code 1)");
      assert.match(
        await said("```bash\nseq 1000\n```"),
        /^1\n2\n[\s\S]*… \(\d+ characters are left out\) …[\s\S]*1000$/,
      );
      assert.equal(await said("```bash\necho hello world > hello.txt\n```"), "(no output)");
      assert.deepEqual(await environment.step("I am done."), { messages: [], done: true, reward: 1 });
      await environment.reset(task, 1);
      assert.deepEqual(await environment.end!(), { reward: 0 });
    } finally {
      await environment.close();
    }
  },
);

test("refused folders end the run before it begins, unless they are to be left out", () => {
  const folder = temporary();
  folderOf({}, join(folder, "tasks", "good"));
  folderOf({ "task.toml": "[environment]\ngpus = 1\n" }, join(folder, "tasks", "gpu"));
  const source = (more: object): unknown => made(harbor, { harbor: "tasks", ...more }, { folder });
  assert.throws(
    () => source({}),
    /1 of 2 Harbor tasks cannot run here: gpu\/task.toml:2: environment.gpus asks for 1 GPUs/,
  );
  assert.doesNotThrow(() => source({ skip_refused: true }));
  assert.throws(() => made(harbor, { harbor: "none" }, { folder }), /no Harbor task in none/);
});
