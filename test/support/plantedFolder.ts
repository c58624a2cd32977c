/** A folder from elsewhere: everything in it that could be started, by any name that is looked for, leaves a mark when it is. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** Programs that Gradus itself starts by name: a relative entry of PATH would find those of the folder. */
const names =
  "python3 python uv git tar ssh sh bash env pip npm node g++ c++ clang++ chromium nvidia-smi ldd df ps sysctl unshare nsenter setpriv docker podman bwrap which";

const python = "python: ./bin/python";
const config = `name: planted
tasks: [{ use: reasoning_gym, datasets: [leg_counting], ${python} }]
curriculum: { arms: { use: prompt } }
rollout: { prompts: 1, group: 2 }
reward:
  terms:
    gym: { use: reasoning_gym, ${python} }
    maths: { use: math, by: math_verify, ${python} }
    own: { use: python, file: reward.py, export: reward }
    script: { use: ./reward.ts }
steps: 2
`;
/** The same with nothing named: what is found is the folder's. */
const unnamed = config.replaceAll(`, ${python}`, "");

const task = {
  id: "reasoning_gym:leg_counting:aa",
  source: "reasoning_gym",
  env: "reasoning_gym",
  prompt: "p",
  answer: "4",
  data: {
    question: "q",
    gym: { dataset: "leg_counting", level: null, config: {}, attributes: {}, seed: 0, size: 5 },
    index: 0,
  },
};
const rollouts = [0, 1].map((index) =>
  JSON.stringify({
    ...{ step: 0, group: "g", index, task, prompt: "p", response: `r${index}`, reward: index },
    rewards: { gym: index, maths: index, own: 1, script: 1 },
  }),
);

export class PlantedFolder {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "gradus-planted-")));
  /** Outside the folder. */
  private readonly marks = `${this.folder}-marks`;
  private readonly path = process.env["PATH"];

  constructor() {
    for (const name of names.split(" ")) this.program(join("node_modules", ".bin", name));
    for (const name of [
      "bin/python",
      ".venv/bin/python",
      "venv/bin/python",
      "fsmonitor",
      ".git/hooks/post-checkout",
    ])
      this.program(name);
    this.write(".git/config", `[core]\n\tfsmonitor = ${join(this.folder, "fsmonitor")}\n`);
    this.write(".git/HEAD", "ref: refs/heads/main\n");
    this.write("pyproject.toml", "[tool.uv]\n");
    for (const name of ["math_verify", "reasoning_gym", "pip", "sitecustomize", "json"])
      this.write(`${name}.py`, this.line(`${name}.py`));
    this.write(
      "reward.py",
      `${this.line("reward.py")}def reward(prompt, response, **more):\n    return 1.0\n`,
    );
    this.write(
      "reward.ts",
      `import { appendFileSync } from "node:fs";\nappendFileSync(${JSON.stringify(this.marks)}, "reward.ts\\n");\nexport const score = () => 1;\n`,
    );
    this.write("named.gradus.yaml", config);
    this.write("unnamed.gradus.yaml", unnamed);
    this.write(
      "named.curriculum.test.yaml",
      "tests: [{ name: a, steps: 2, expect: [{ metric: groups/drawn, at_least: 0 }] }]\n",
    );
    this.write("rollouts.jsonl", `${rollouts.join("\n")}\n`);
    this.write("history.jsonl", '{"step":0,"task":"t","arm":"a","rewards":[1,0]}\n');
    process.env["PATH"] = [join("node_modules", ".bin"), ".", "", this.path].join(delimiter);
  }

  /** What was started since the last look. */
  started(): string[] {
    const text = existsSync(this.marks) ? readFileSync(this.marks, "utf8") : "";
    rmSync(this.marks, { force: true });
    return [...new Set(text.split("\n").filter((line) => line !== ""))];
  }

  remove(): void {
    process.env["PATH"] = this.path;
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.marks, { force: true });
  }

  private write(name: string, text: string): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }
  private program(name: string): void {
    this.write(name, `#!/bin/sh\necho "${name}" >> "${this.marks}"\nexit 1\n`);
    chmodSync(join(this.folder, name), 0o755);
  }
  private line(name: string): string {
    return `open(${JSON.stringify(this.marks)}, "a").write(${JSON.stringify(`${name}\n`)})\n`;
  }
}
