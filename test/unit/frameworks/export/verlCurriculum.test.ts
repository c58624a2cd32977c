/** A config whose curriculum observes, as a project for verl: its files and settings, how it is started, and how tasks follow each other. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { parse } from "yaml";
import { exporters, writeProject, type Exported } from "../../../../server/frameworks/trainers/exporters.ts";
import { checkFrameworkDocument, readFrameworkDocument } from "../../../../server/frameworks/check/index.ts";
import { decisionsOf, projectOf, serviceProgram } from "../../../support/service.ts";
import { configOf, temporary } from "../../support.ts";

const base = `name: follows
model: { base: tiny, width: 16, layers: 1, heads: 2, hidden: 32, context: 96 }
rollout: { prompts: 3, group: 4, max_tokens: 3 }
advantage: { scale: { use: group_std, epsilon: 1.0e-6 } }
reward: { terms: { right: { use: format, pattern: "[a-m].*" } } }
objective: { use: clipped, aggregate: token_mean }
steps: 6
`;
const sampler = "{ use: boltzmann, temperature: 0.05 }";
const band = "{ use: success_band, low: 0.2, high: 0.8 }";
const tasks = "tasks: [{ env: reverse_text, lengths: [2, 3, 4] }]\n";
const follows = `${base}${tasks}curriculum: { sampler: ${sampler}, admission: ${band} }\n`;

interface Project {
  readonly out: string;
  readonly exported: Exported;
}

async function project(text: string): Promise<Project> {
  const folder = temporary();
  const out = join(folder, "the project");
  writeFileSync(join(folder, "own.ts"), "export const score = () => 1;\n");
  const config = configOf(text, folder);
  const request = { config, text, folder: out, python: "python3", launch: undefined, version: "0.0.0" };
  return { out, exported: await writeProject(exporters.verl, request) };
}

const read = (...path: string[]): string => readFileSync(join(...path), "utf8");
const keys = ({ exported }: Project, changes = "algorithm"): string[] =>
  exported.missing.filter((one) => one.changes === changes).map(({ key }) => key);

describe("a curriculum that observes, for verl", () => {
  it("is drawn by the service, which MISSING.md names in its place", async () => {
    const made = await project(follows);
    const { out, exported } = made;
    assert.deepEqual(keys(made), []);
    assert.match(
      read(out, "MISSING.md"),
      /`service` \| Node 20.*`curriculum\.admission`, `curriculum\.sampler`/,
    );
    for (const file of ["curriculum.py", "service/service.mjs", "service/gradus_curriculum.py"])
      assert.ok(exported.files.includes(file), file);
    assert.equal(exported.needs.node, true);
    assert.match(read(out, "manager.py"), /\nSERVICE = True\nSCORES = False\n/);
    const file = join(out, "config.yaml");
    const { data, trainer } = parse(read(file));
    assert.deepEqual(data.custom_cls, { path: "${project}/curriculum.py", name: "DrawnTasks" });
    assert.equal(data.dataloader_num_workers, 0);
    assert.equal(trainer.v1.sampler.custom_sampler.name, "Observed");
    const document = readFrameworkDocument(file, read(file), { environment: "" });
    assert.ok(document);
    assert.deepEqual(
      checkFrameworkDocument(document).map(({ message }) => message),
      [],
    );
  });

  it("says that a mean over sequences counts the places of rejected groups", async () => {
    const mean = await project(follows.replace("token_mean", "sequence_mean"));
    assert.deepEqual(keys(mean), ["curriculum.admission"]);
    assert.match(read(mean.out, "MISSING.md"), /success_band \| verl divides a mean over sequences/);
    const filtered = follows.replace(band, "{ use: nonzero_variance, refill: adaptive }");
    assert.deepEqual(keys(await project(filtered.replace("token_mean", "sequence_mean"))), []);
  });

  it("leaves room for whatever its tasks may come to ask, not for the first draws alone", async () => {
    const rows = Array.from({ length: 200 }, (_, at) => ({
      q: "a".repeat(at === 150 ? 900 : 9),
      answer: `${at}`,
    }));
    const folder = temporary();
    const file = join(folder, "rows.jsonl");
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const text = follows
      .replace(tasks, `tasks: [{ dataset: ${file}, prompt: "{q}", answer: "{answer}" }]\n`)
      .replace("context: 96", "context: 4000")
      .replace("steps: 6", "steps: 1");
    const length = async (own: string): Promise<number> =>
      parse(read((await project(own)).out, "config.yaml")).data.max_prompt_length;
    assert.ok((await length(text)) >= 900);
    assert.ok((await length(text.replace(/curriculum: .*\n/, ""))) < 900);
  });

  it("leaves a project without it as it was", async () => {
    const made = await project(`${base}${tasks}`);
    assert.equal(made.exported.needs.node, false);
    assert.ok(!made.exported.files.some((file) => /service|curriculum/.test(file)));
    assert.equal(parse(read(made.out, "config.yaml")).data.custom_cls, undefined);
    assert.match(read(made.out, "manager.py"), /\nSERVICE = False\nSCORES = False\n/);
  });

  it("scores rewards in TypeScript, which other machines do not reach", async () => {
    const own = follows.replace("right: {", "own: ./own.ts, right: {");
    const made = await project(own);
    assert.deepEqual(keys(made), []);
    assert.match(read(made.out, "manager.py"), /\nSCORES = True\n/);
    assert.doesNotMatch(read(made.out, "MISSING.md"), /gradus reward/);
    const far = await project(`${own}engine: { use: verl, args: { trainer: { nnodes: 2 } } }\n`);
    assert.match(read(far.out, "MISSING.md"), /trainer\.nnodes` \| 2 \| Reward workers of other machines/);
  });

  for (const args of ["trainer.use_v1: false", "trainer: { v1: { trainer_mode: colocate_async } }"])
    it(`is left out with ${args}`, async () => {
      const made = await project(`${follows}engine: { use: verl, args: { ${args} } }\n`);
      assert.deepEqual(keys(made), ["curriculum.admission", "curriculum.sampler"]);
      assert.equal(made.exported.needs.node, false);
      assert.match(read(made.out, "MISSING.md"), /`engine\.args\.trainer\.\S+` \| (false|colocate_async) \|/);
    });

  it("replaces rejected groups where verl's own filter does, and says where nothing does", async () => {
    const filters = await project(follows.replace(band, "{ use: nonzero_variance, refill: adaptive }"));
    assert.deepEqual(keys(filters), []);
    const own = await project(follows.replace("high: 0.8 }", "high: 0.8, refill: adaptive }"));
    assert.deepEqual(keys(own), ["curriculum.admission.refill"]);
  });
});

describe("launch.sh for verl with a service", () => {
  /** A Python that says what it is asked. */
  async function started(text = follows): Promise<(env: NodeJS.ProcessEnv) => ReturnType<typeof spawnSync>> {
    const { out } = await project(text);
    const python = join(out, "..", "python");
    writeFileSync(python, `#!/bin/sh\nprintf '%s\\n' "$@"\nexit 3\n`);
    chmodSync(python, 0o755);
    return (env) =>
      spawnSync("sh", [join(out, "launch.sh"), "trainer.nnodes=1"], {
        cwd: "/",
        encoding: "utf8",
        env: { ...process.env, GRADUS_PYTHON: python, ...env },
      });
  }
  const environment = "+ray_kwargs.ray_init.runtime_env.env_vars";

  it("hands the service and its Node to Ray's workers", async () => {
    const start = await started();
    const { status, stdout } = start({ GRADUS_NODE: process.execPath, GRADUS_SERVICE: "out/other.json" });
    assert.equal(status, 3);
    const lines = String(stdout).trim().split("\n");
    const [, folder = ""] = /^project='(.+)'$/m.exec(String(stdout)) ?? [];
    assert.ok(lines.includes(`${environment}.GRADUS_SERVICE='${folder}/out/other.json'`));
    assert.ok(lines.includes(`${environment}.GRADUS_NODE='${process.execPath}'`));
    assert.equal(lines.at(-1), "trainer.nnodes=1");
  });

  it("trains on train.parquet where the service is off", async () => {
    const start = await started();
    const { status, stdout } = start({ GRADUS_SERVICE: "off", GRADUS_NODE: "/nowhere/node" });
    assert.equal(status, 3);
    const lines = String(stdout).split("\n");
    assert.ok(lines.includes("data.custom_cls.path=null"));
    assert.ok(lines.includes("trainer.v1.sampler.custom_sampler.path=null"));
    assert.ok(lines.includes(`${environment}.GRADUS_SERVICE='off'`));
  });

  it("says what to do where there is no Node, if something needs it", async () => {
    const { status, stderr } = (await started())({ GRADUS_NODE: "/nowhere/node" });
    assert.equal(status, 1);
    assert.match(String(stderr), /Node 20 or newer: install it, name it in GRADUS_NODE/);
    assert.equal((await started(`${base}${tasks}`))({ GRADUS_NODE: "/nowhere/node" }).status, 3);
  });
});

describe("steps of verl", () => {
  let program: string;
  before(async () => void (program = await serviceProgram()));

  /** Python that has `steps` of a project's service. */
  function run(lines: string, folder = served()): { readonly folder: string; readonly said: string } {
    const script = `import json, sys
sys.path.insert(0, sys.argv[1] + "/service")
from gradus_curriculum import Curriculum, CurriculumError, VerlSteps
curriculum = Curriculum(node=sys.argv[2])
steps = VerlSteps(curriculum, 3)
def told(tasks):
    return [{"task": one["id"], "step": one["step"], "rewards": [1.0, 0.0] if one["place"] else [0.0, 0.0]} for one in tasks]
${lines}
`;
    const { status, stdout, stderr } = spawnSync("python3", ["-B", "-c", script, folder, process.execPath], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    return { folder, said: stdout.trim() };
  }
  function served(): string {
    const folder = projectOf(follows);
    copyFileSync(program, join(folder, "service", "service.mjs"));
    const client = "gradus_curriculum.py";
    copyFileSync(join("server/frameworks/carried/service", client), join(folder, "service", client));
    return folder;
  }

  const drawn = `steps.observer = True
found = []
for step in range(4):
    tasks = [steps.next() for _ in range(3)]
    found.append([[one["step"], one["place"], one["id"]] for one in tasks])
    steps.observe(told(tasks), step + 1)
print(json.dumps(found))`;

  it("draw in the order in which rows are fetched, each knowing all outcomes before", () => {
    const { folder, said } = run(drawn);
    const found: [number, number, string][][] = JSON.parse(said);
    assert.deepEqual(
      found.map((step) => step.map(([own, place]) => [own, place])),
      [0, 1, 2, 3].map((own) => [0, 1, 2].map((place) => [own, place])),
    );
    assert.deepEqual(
      decisionsOf(folder).map(({ step, trainer_step, drawn_after }) => [step, trainer_step, drawn_after]),
      [0, 1, 2, 3].map((step) => [step, step + 1, step - 1]),
    );
  });

  it("go on from a checkpoint with the tasks that followed it", () => {
    const { folder, said } = run(drawn);
    const again = run(
      `steps.load({"step": 2})\n${drawn.replace("range(4)", "range(2, 4)")}\nprint(json.dumps(steps.state()))`,
      folder,
    );
    const [found = "", state] = again.said.split("\n");
    assert.deepEqual(JSON.parse(found), JSON.parse(said).slice(2));
    assert.equal(state, '{"step": 4}');
  });

  it("draw further tasks of a step in the place of those that verl throws away", () => {
    const { folder, said } = run(`steps.observer = True
tasks = [steps.next() for _ in range(5)]
steps.observe(told(tasks), 1)
print(json.dumps([[one["step"], one["place"], one["id"]] for one in [*tasks, steps.next()]]))`);
    const found: [number, number, string][] = JSON.parse(said);
    assert.deepEqual(
      found.map(([step, place]) => [step, place]),
      [...[0, 1, 2, 3, 4].map((place) => [0, place]), [1, 0]],
    );
    assert.equal(new Set(found.slice(0, 5).map(([, , id]) => id)).size, 5);
    assert.deepEqual(decisionsOf(folder)[0]?.["missing"], []);
  });

  it("are refused where nobody would report, and of another step", () => {
    const { said } = run(`
for wrong in (lambda: steps.next(), lambda: steps.observe([{"task": "a", "step": 7, "rewards": [1.0]}], 1)):
    try:
        wrong()
    except CurriculumError as error:
        print(error)`);
    assert.match(said, /^nothing would tell the curriculum .* trainer\.use_v1=true/);
    assert.match(said, /task a is of step 7, but step 0 is trained$/);
  });

  it("do not start a second service where a process only asks", () => {
    const { said } = run(`
other = Curriculum(starts=False)
print(other.reward_url() == curriculum.reward_url(), other._process is None)`);
    assert.equal(said, "True True");
  });
});
