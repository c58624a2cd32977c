import { basename, resolve } from "node:path";
import { z } from "zod";
import { UserError } from "../../../../shared/lib/errors.ts";
import { taskSource, param } from "../../../core/declaration.ts";
import { template } from "../../../core/references.ts";
import { splitOf } from "../../../core/split.ts";
import { fill } from "../../../core/templates.ts";
import type { TaskSource } from "../../../core/slots/tasks.ts";
import type { Task } from "../../../core/task.ts";
import { Refused } from "../../../lib/harbor/dockerfile.ts";
import { harborFolders, readHarborTask, type HarborTask } from "../../../lib/harbor/taskFolder.ts";
import { harborPlay } from "./play.ts";
import { relativePath } from "../../../../shared/lib/slashes.ts";

const asks = `{instruction}

You work in a shell. Write one command at a time, in a block that begins with \`\`\`bash, and read its output; each begins in {workdir}. When you are done, answer without a command.`;

const params = z.object({
  harbor: param(z.string().min(1), "A Harbor task folder, or a folder of such, relative to this config."),
  prompt: param(
    template("instruction", "workdir", "name").default(asks),
    "Template of the prompt: `{instruction}`, `{workdir}`, `{name}`.",
  ),
  seconds: param(z.number().positive().default(60), "Seconds that one command may take."),
  most: param(
    z.number().int().min(100).default(8000),
    "Characters of a command's output that are shown; the middle of a longer one is left out.",
  ),
  machines: param(z.number().int().min(1).max(64).default(4), "Episodes at once."),
  skip_refused: param(
    z.boolean().default(false),
    "Leave out folders that ask for what this machine cannot give, instead of refusing to run.",
  ),
});
type Params = z.output<typeof params>;

/** The folders that can be run here. @throws UserError that names those that cannot */
function tasksOf({ harbor, skip_refused }: Params, folder: string): readonly HarborTask[] {
  const place = resolve(folder, harbor);
  const found = harborFolders(place);
  if (found.length === 0)
    throw new UserError(`there is no Harbor task in ${harbor}: no folder below it has a task.toml`, {
      file: place,
      code: "no-harbor-task",
      action: "Name the folder that holds the tasks.",
    });
  const refused: string[] = [];
  const tasks = found.flatMap((one) => {
    try {
      return [readHarborTask(one)];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused.push(
        `${relativePath(place, error.file) || basename(error.file)}:${error.line}: ${error.message}`,
      );
      return [];
    }
  });
  if (refused.length > 0 && (!skip_refused || tasks.length === 0))
    throw new UserError(
      `${refused.length} of ${found.length} Harbor tasks cannot run here: ${refused.slice(0, 3).join("; ")}${refused.length > 3 ? " …" : ""}`,
      {
        file: place,
        code: "harbor-refused",
        action: "`gradus test FOLDER` lists them all. Write `skip_refused: true` to train without them.",
      },
    );
  return tasks;
}

function sourceOf(options: Params, folder: string, name: string): TaskSource {
  const place = resolve(folder, options.harbor);
  const known = new Map<string, HarborTask>();
  const all = tasksOf(options, folder).map((own): Task => {
    const id = `harbor:${relativePath(place, own.folder) || basename(own.folder)}`;
    known.set(id, own);
    const { instruction, workdir } = own;
    return {
      id,
      source: name,
      env: "harbor",
      prompt: fill(options.prompt, { instruction, workdir, name: own.name }),
      data: { name: own.name, folder: relativePath(folder, own.folder) },
    };
  });
  const of = (split: "train" | "evaluate"): readonly Task[] => all.filter(({ id }) => splitOf(id) === split);
  const train = of("train");
  return {
    name,
    values: [],
    draw: (split, _value, random) => {
      const list = of(split);
      return list.length === 0 ? null : list[random.integer(list.length)]!;
    },
    valueOf: () => undefined,
    pool: () => ({ size: train.length, task: (number) => train[number]! }),
    holdsOut: ({ id }) => id !== undefined && splitOf(id) === "evaluate",
    read: (prompt) => all.find((one) => one.prompt === prompt) ?? null,
    listed: () => all.map((task, k) => ({ task, file: known.get(task.id)!.folder, row: k + 1 })),
    play: harborPlay(known, options),
    save: () => ({ json: {} }),
    load: () => undefined,
  };
}

export const harbor = taskSource({
  name: "harbor",
  summary:
    "Harbor task folders: the policy works in a shell, and the task's own tests say what it is worth. Each episode has namespaces of its own without network; folders that ask for more than this machine can give are refused by name.",
  formula: "r = what tests/test.sh writes to /logs/verifier/reward.txt or reward.json",
  sources: ["Harbor 0.26"],
  params,
  create: (options, { folder, name }) => sourceOf(options, folder, name ?? "harbor"),
});
