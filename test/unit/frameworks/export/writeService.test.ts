/** What is written into a project runs there alone: moved elsewhere, it draws and scores as the config does. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, test } from "node:test";
import {
  writeService,
  type WrittenService,
} from "../../../../server/frameworks/carried/service/writeService.ts";
import { loadConfig } from "../../../../server/rules/load.ts";
import { decisionsOf, serviceProgram, startService, type Reply } from "../../../support/service.ts";

const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true, force: true })));
const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "gradus-written-"));
  made.push(folder);
  return folder;
};
const client = resolve("server/frameworks/carried/service/gradus_curriculum.py");

async function written(
  text: string,
  files: Readonly<Record<string, string>> = {},
): Promise<WrittenService & { readonly project: string; readonly home: string }> {
  const home = temporary();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), content);
  }
  const file = join(home, "a.gradus.yaml");
  writeFileSync(file, text);
  const { config, diagnostics } = loadConfig(file);
  assert.ok(config, diagnostics.map(({ message }) => message).join("\n"));
  const program = await serviceProgram();
  const project = join(temporary(), "project");
  mkdirSync(project);
  const built = (name: string): string =>
    name === "service.mjs" ? program : name === "gradus_curriculum.py" ? client : resolve("dist", name);
  return { ...(await writeService(config, project, built)), project, home };
}

const rows = Array.from({ length: 40 }, (_, i) => ({ q: `What is ${i}+1?`, a: String(i + 1), level: i % 3 }));
const lines = rows.map((row) => JSON.stringify(row)).join("\n");

test("data, rewards and config travel; nothing points out of the folder", async () => {
  const { project, home, files, missing, scored } = await written(
    `extends: dapo
seed: 5
tasks: [{ dataset: "data/*.jsonl", name: sums, prompt: "{q}", answer: "{a}", difficulty: level }]
rollout: { prompts: 4, group: 4 }
curriculum: { signal: success_rate, sampler: boltzmann }
reward: { terms: { own: { use: ./rewards/own.ts, weight: 0.5 }, right: exact_match, py: { use: ./rewards/p.py:compute_score, weight: 0.1 } } }
`,
    {
      "data/a.jsonl": lines,
      "rewards/own.ts":
        'import { half } from "./lib/half.ts";\nexport const score = ({ response }: { response: string }): number => half(response.length);\n',
      "rewards/lib/half.ts": "export const half = (length: number): number => length / 2;\n",
      "rewards/p.py": "def compute_score(response, **kwargs):\n    return 1.0\n",
    },
  );
  assert.deepEqual(
    files.toSorted(),
    [
      "service/config.gradus.yaml",
      "service/gradus_curriculum.py",
      "service/own.mjs",
      "service/p.py",
      "service/service.mjs",
      "service/data.jsonl",
    ].toSorted(),
  );
  assert.deepEqual(scored, ["own", "right"]);
  assert.deepEqual(
    missing.map(({ key, value, changes }) => [key, value, changes]),
    [["curriculum.admission.refill", "adaptive", "algorithm"]],
  );
  for (const name of readdirSync(join(project, "service")))
    if (name !== "service.mjs")
      assert.equal(readFileSync(join(project, "service", name), "utf8").includes(home), false, name);
  // Somewhere else, and what it was made of is gone.
  const moved = join(temporary(), "elsewhere");
  renameSync(project, moved);
  rmSync(home, { recursive: true });
  const service = await startService(moved, [], join(moved, "service", "service.mjs"));
  const [status, drawn] = await service.ask("/draw", { step: 0 });
  assert.equal(status, 200, JSON.stringify(drawn));
  const tasks = drawn["tasks"] as Reply[];
  assert.equal(tasks.length, 4);
  const answers = tasks.map((task) => ({ task, response: String(task["answer"]) }));
  const [, { terms }] = await service.ask("/score", { answers });
  assert.deepEqual((terms as Reply)["right"], [1, 1, 1, 1]);
  assert.deepEqual(
    (terms as Reply)["own"],
    tasks.map(({ answer }) => String(answer).length / 2),
  );
  assert.deepEqual((terms as Reply)["py"], [null, null, null, null]);
  await service.end();
});

test("what needs the policy is named, and replaced", async () => {
  const { missing, project } = await written(
    `tasks: [{ env: reverse_text }]
models: { value: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 96 } }
extends: pcl-value-model
curriculum: { arms: { use: prompt, pool: 12 } }
rollout: { prompts: 2, group: 4 }
reward: { terms: { right: exact_match } }
`,
  );
  assert.ok(missing.some(({ key, changes }) => key === "curriculum.estimator" && changes === "algorithm"));
  for (const { reason } of missing) assert.match(reason, /^[A-Z].*\.$/);
  const { curriculum }: { curriculum: Record<string, Reply> } = JSON.parse(
    readFileSync(join(project, "service", "config.gradus.yaml"), "utf8"),
  );
  assert.deepEqual([curriculum["estimator"]?.["use"], curriculum["sampler"]?.["use"]], ["ema", "uniform"]);
});

test("stages that draw nothing stay behind, and a stage that waits for another metric says so", async () => {
  const { missing, project } = await written(
    `tasks: [{ env: reverse_text, lengths: [2, 3] }]
rollout: { prompts: 2, group: 4 }
reward: { terms: { right: exact_match } }
stages:
  - { name: warm-up, kind: sft, steps: 3 }
  - { name: one, steps: 2, until: { metric: eval/pass@1, above: 0.9 } }
  - { name: two, steps: 2, tasks: { reverse_text: { lengths: [5] } } }
`,
  );
  assert.deepEqual(
    missing.map(({ key, value }) => [key, value]),
    [["until", "eval/pass@1"]],
  );
  const service = await startService(project, [], join(project, "service", "service.mjs"));
  for (let step = 0; step < 5; step++) {
    const [, drawn] = await service.ask("/draw", { step });
    const groups = (drawn["tasks"] as Reply[]).map(({ id }) => ({ task: id, rewards: [1, 0] }));
    const metrics = { "eval/pass@1": step === 0 ? 1 : 0 };
    assert.equal((await service.ask("/observe", { step, groups, metrics }))[0], 200);
  }
  await service.end();
  assert.deepEqual(
    decisionsOf(project).map(({ stage }) => stage),
    // The metric that was reported ends the first stage; after the last one that goes on.
    ["one", "two", "two", "two", "two"],
  );
});

test("the Python client draws, observes, restores and says what is refused; it starts the service again when it was killed", async () => {
  const { project } = await written(
    "tasks: [{ env: reverse_text, lengths: [2, 3] }]\nrollout: { prompts: 2, group: 4 }\nreward: { terms: { right: exact_match } }\ncurriculum: { sampler: boltzmann }\n",
  );
  const program = `
import sys, os, json, signal
sys.path.insert(0, ${JSON.stringify(join(project, "service"))}); sys.dont_write_bytecode = True
from gradus_curriculum import Curriculum, CurriculumError
curriculum = Curriculum()
first = curriculum.draw(0, 2)
assert first == curriculum.draw(0, 2)
scored = curriculum.score([{"task": first[0], "response": first[0]["answer"]}])
assert scored["rewards"] == [1], scored
os.kill(json.load(open(curriculum.ready))["pid"], signal.SIGKILL)
assert first == curriculum.draw(0, 2)
done = curriculum.observe(0, [{"task": one["id"], "rewards": {"right": [1.0, float("nan")]}} for one in first], trainer_step=7)
assert done["trainer_step"] == 7 and done["step"] == 0, done
try:
    curriculum.observe(4, [])
except CurriculumError as error:
    assert error.code == "service-order" and error.expected == 1, error
    print(error)
assert curriculum.restore(-1)["observed"] == -1
assert first == curriculum.tasks(0, 2)
os.environ["GRADUS_SERVICE"] = curriculum.ready
assert Curriculum().state()["drawn"] == 0
curriculum.close()
del os.environ["GRADUS_SERVICE"]
try:
    Curriculum(node="no-such-node")
except CurriculumError as error:
    print(error)
`;
  const { status, stdout, stderr } = spawnSync("python3", ["-c", program], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /step 4 cannot be observed; the next step to observe is 1\. A trainer that goes on/);
  assert.match(
    stdout,
    /Node could not be started as 'no-such-node' \(No such file or directory\): install Node 20/,
  );
});

test("the client is Python 3.8", () => {
  const check = `import ast; ast.parse(open(${JSON.stringify(client)}).read(), feature_version=(3, 8))`;
  assert.equal(spawnSync("python3", ["-c", check]).status, 0);
});
