/** A Harbor task folder: what it asks for, and what of that this machine cannot give. */
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { basename, join } from "node:path";
import { parse, TomlError } from "smol-toml";
import { z } from "zod";
import { readImage, Refused, type Image } from "./dockerfile.ts";
import type { Limits } from "./limits.ts";

export interface HarborTask {
  /** Absolute. */
  readonly folder: string;
  readonly name: string;
  readonly instruction: string;
  readonly image: Image;
  readonly env: Readonly<Record<string, string>>;
  /** Where commands run. */
  readonly workdir: string;
  readonly solution: Readonly<Record<string, string>>;
  readonly verifier: { readonly env: Readonly<Record<string, string>>; readonly seconds: number };
  /** Seconds for the solution. */
  readonly seconds: number;
  readonly limits: Limits;
}

const texts = z.record(z.string(), z.string()).default({});
const environment = z.looseObject({
  env: texts,
  workdir: z.string().optional(),
  storage_mb: z.number().optional(),
  memory_mb: z.number().optional(),
  memory: z.string().optional(),
  cpus: z.number().optional(),
});
const format = z.looseObject({
  task: z.looseObject({ name: z.string() }).optional(),
  environment: environment.default({ env: {} }),
  agent: z.looseObject({ timeout_sec: z.number().optional() }).default({}),
  solution: z.looseObject({ env: texts }).default({ env: {} }),
  verifier: z
    .looseObject({ env: texts, timeout_sec: z.number().default(600) })
    .default({ env: {}, timeout_sec: 600 }),
});
type Asked = z.output<typeof format>;
type Section = Readonly<Record<string, unknown>>;

/** Keys that ask for something, with when they ask for more than there is here. */
const needs: readonly (readonly [
  section: "environment" | "agent" | "verifier" | "top",
  key: string,
  why: (value: unknown) => string | false,
])[] = [
  ["environment", "network_mode", (value) => value !== "no-network" && `a network (${String(value)})`],
  ["environment", "allow_internet", (value) => value === true && "a network"],
  ["environment", "allowed_hosts", () => "hosts of the network"],
  ["agent", "network_mode", (value) => value !== "no-network" && `a network (${String(value)})`],
  ["verifier", "network_mode", (value) => value !== "no-network" && `a network (${String(value)})`],
  ["environment", "gpus", (value) => Number(value) > 0 && `${String(value)} GPUs`],
  ["environment", "gpu_types", () => "a kind of GPU"],
  ["environment", "tpu", () => "a TPU"],
  [
    "environment",
    "cpus",
    (value) =>
      Number(value) > availableParallelism() &&
      `${String(value)} processors, and there are ${availableParallelism()}`,
  ],
  [
    "environment",
    "memory_mb",
    (value) => Number(value) > totalmem() / 2 ** 20 && `${String(value)} MB of memory`,
  ],
  [
    "environment",
    "memory",
    (value) => megabytesOf(value) > totalmem() / 2 ** 20 && `${String(value)} of memory`,
  ],
  ["environment", "os", (value) => String(value).toLowerCase() !== "linux" && `the system ${String(value)}`],
  ["environment", "docker_image", (value) => `the image ${String(value)}`],
  ["environment", "mcp_servers", (value) => Array.isArray(value) && value.length > 0 && "MCP servers"],
  ["environment", "healthcheck", () => "a healthcheck"],
  ["environment", "skills_dir", () => "skills for an agent"],
  ["agent", "user", (value) => value !== "root" && value !== 0 && `another user (${String(value)})`],
  ["verifier", "user", (value) => value !== "root" && value !== 0 && `another user (${String(value)})`],
  ["verifier", "environment_mode", (value) => value !== "shared" && "a verifier in a container of its own"],
  ["verifier", "environment", () => "a verifier in a container of its own"],
  [
    "verifier",
    "collect",
    (value) => Array.isArray(value) && value.length > 0 && "commands in compose services",
  ],
  ["top", "steps", (value) => Array.isArray(value) && value.length > 0 && "several steps"],
];

function megabytesOf(value: unknown): number {
  const match = /^([\d.]+)\s*([KMG])?/i.exec(String(value));
  const unit = { K: 1 / 1024, M: 1, G: 1024 }[(match?.[2] ?? "M").toUpperCase()] ?? 1;
  return match === null ? 0 : Number(match[1]) * unit;
}

/** Below a folder, or the folder itself, sorted. */
export function harborFolders(folder: string): readonly string[] {
  if (existsSync(join(folder, "task.toml"))) return [folder];
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return [];
  return readdirSync(folder)
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .sort()
    .flatMap((name) => (statSync(join(folder, name)).isDirectory() ? harborFolders(join(folder, name)) : []));
}

/** @throws Refused with the file and line that asks for what this machine cannot give */
export function readHarborTask(folder: string): HarborTask {
  const file = join(folder, "task.toml");
  const text = readFileSync(file, "utf8");
  const asked = parsed(text, file);
  refuseMore(asked, text, file);
  const place = join(folder, "environment");
  for (const name of [
    "docker-compose.yaml",
    "docker-compose.yml",
    "singularity-compose.yaml",
    ".dockerignore",
  ])
    if (existsSync(join(place, name)))
      throw new Refused(`${name} asks for containers of its own`, join(place, name), 1);
  for (const name of ["instruction.md", "tests/test.sh"])
    if (!existsSync(join(folder, name))) throw new Refused(`${name} is missing`, join(folder, name), 1);
  const image = readImage(place);
  const own = asked.environment;
  return {
    folder,
    name: asked.task?.name ?? basename(folder),
    instruction: readFileSync(join(folder, "instruction.md"), "utf8").trim(),
    image,
    env: given(own.env, file, text),
    workdir: own.workdir ?? image.workdir,
    solution: given(asked.solution.env, file, text),
    verifier: { env: given(asked.verifier.env, file, text), seconds: asked.verifier.timeout_sec },
    seconds: asked.agent.timeout_sec ?? 600,
    limits: limitsOf(own),
  };
}

/** A folder that does not say how much memory it needs leaves half of it to the run. */
function limitsOf({ storage_mb = 1024, memory_mb, memory, cpus }: Asked["environment"]): Limits {
  const asked = memory_mb ?? (memory === undefined ? undefined : megabytesOf(memory));
  return {
    megabytes: Math.min(storage_mb, 4096),
    memory: Math.ceil(asked ?? totalmem() / 2 ** 21),
    processors: cpus,
  };
}

function parsed(text: string, file: string): Asked {
  try {
    return format.parse(parse(text));
  } catch (error) {
    const why =
      error instanceof z.ZodError
        ? z.prettifyError(error)
        : error instanceof Error
          ? error.message.split("\n")[0]!
          : String(error);
    throw new Refused(`task.toml cannot be read: ${why}`, file, error instanceof TomlError ? error.line : 1);
  }
}

function refuseMore(asked: Asked, text: string, file: string): void {
  for (const [section, key, why] of needs) {
    const place: Section = section === "top" ? asked : asked[section];
    const value = place[key];
    const more = value === undefined || value === null ? false : why(value);
    if (more !== false)
      throw new Refused(
        `${section === "top" ? key : `${section}.${key}`} asks for ${more}: it is not given here`,
        file,
        lineOf(text, key),
      );
  }
}

const lineOf = (text: string, key: string): number => {
  const at = text.split("\n").findIndex((line) => new RegExp(`^\\s*(\\[+[\\w.]*)?${key}\\b`).test(line));
  return at < 0 ? 1 : at + 1;
};

/** \`\${NAME:-default}\` is its default: nothing of this machine's environment goes in. */
function given(env: Readonly<Record<string, string>>, file: string, text: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const filled = value.replace(/\$\{\w+:-([^}]*)\}/g, "$1");
      if (/\$\{\w+\}/.test(filled))
        throw new Refused(
          `env.${name} asks for a variable of this machine (${value}): it is not given here`,
          file,
          lineOf(text, name),
        );
      return [name, filled];
    }),
  );
}
