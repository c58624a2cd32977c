/** One episode in a Harbor task: commands, then its own tests. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { shellQuoted } from "../../../shared/lib/shellQuoted.ts";
import { Namespaces, shell, usualPath, type Finished } from "./namespaces.ts";
import type { HarborTask } from "./taskFolder.ts";

export interface Graded {
  readonly reward: number;
  /** Further numbers of reward.json. */
  readonly components: Readonly<Record<string, number>>;
  /** What its tests printed. */
  readonly output: string;
}

/** The episode took more than its folder asks for, and was ended. */
export class Exceeded extends Error {}

/** The task's own tests gave no reward that can be read. */
export class NoReward extends Error {}

/** Of what manages an episode: nothing of the policy's is there. */
const bare = { PATH: usualPath, HOME: "/nonexistent" };
/** Of what grades: a home folder of its own, so that no start-up file of the policy's is read. */
const graderHome = "/run/grader";

export class HarborEpisode {
  private constructor(
    readonly task: HarborTask,
    private readonly machine: Namespaces,
  ) {}

  /** @throws UserError where this machine has no namespaces */
  static async open(task: HarborTask): Promise<HarborEpisode> {
    const episode = new HarborEpisode(task, await Namespaces.open(task.limits));
    try {
      await episode.build();
    } catch (error) {
      await episode.close();
      throw error;
    }
    return episode;
  }

  /** The image's folders and files. */
  private async build(): Promise<void> {
    const { image, folder, workdir } = this.task;
    const place = join(folder, "environment");
    const folders = [...image.folders, workdir].map((path) => `mkdir -p ${shellQuoted(path)}`);
    if (image.copies.length > 0) await this.put(place, "/.context");
    const copies = image.copies.map(({ from, to }) => {
      const isFolder = to.endsWith("/") || from.length > 1;
      const sources = from.map((path) => `/.context/${path.replace(/^\/+/, "")}`);
      // Of a folder, what is in it.
      return sources
        .map((source) => {
          const [s, t] = [shellQuoted(source), shellQuoted(to)];
          const one = isFolder
            ? `mkdir -p ${t} && cp -a ${s} ${t}`
            : `mkdir -p "$(dirname ${t})" && cp -aT ${s} ${t}`;
          return `if [ -d ${s} ]; then mkdir -p ${t} && cp -a ${s}/. ${t}; else ${one}; fi`;
        })
        .join("\n");
    });
    await this.must(
      [...shell, "-c", ["set -e", ...folders, ...copies, "rm -rf /.context"].join("\n")],
      "its files could not be copied",
    );
  }

  /** Copies a folder of this machine into a folder there. */
  private async put(from: string, to: string): Promise<void> {
    await this.must(["/usr/bin/mkdir", "-p", to], `${to} could not be made`);
    const tar = spawn("tar", ["-C", from, "--owner=0", "--group=0", "-cf", "-", "."], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    // No shell: its standard input is a pipe of ours.
    const { code, output } = await this.machine.run({
      argv: ["/usr/bin/tar", "-C", to, "--no-same-owner", "-xf", "-"],
      folder: "/",
      env: bare,
      seconds: 120,
      stdin: tar.stdout,
      as: "manage",
    });
    if (code !== 0) throw new Error(`${from} could not be copied: ${output.trim()}`);
  }

  private async must(
    argv: readonly string[],
    what: string,
    as: "manage" | "mount" = "manage",
  ): Promise<void> {
    const { code, output } = await this.machine.run({ argv, folder: "/", env: bare, seconds: 120, as });
    if (code !== 0) throw new Error(`${this.task.name}: ${what}: ${output.trim()}`);
  }

  private get env(): Record<string, string> {
    return {
      PATH: usualPath,
      HOME: "/root",
      LANG: "C.UTF-8",
      TERM: "dumb",
      ...this.task.image.env,
      ...this.task.env,
    };
  }

  /**
   * One command in a shell of its own; files and what runs in the background stay.
   * @throws Exceeded
   */
  async run(command: string, seconds: number, signal?: AbortSignal): Promise<Finished> {
    const done = await this.machine.run({
      argv: [...shell, "-c", command],
      folder: this.task.workdir,
      env: this.env,
      seconds,
      ...(signal && { signal }),
    });
    this.refuseMore();
    return done;
  }

  private refuseMore(): void {
    if (this.machine.ended !== undefined) throw new Exceeded(`${this.task.name}: ${this.machine.ended}`);
  }

  /** Does what the folder's own solution does; false: it has none. @throws Exceeded */
  async solve(): Promise<Finished | false> {
    const { folder, solution, seconds } = this.task;
    if (!existsSync(join(folder, "solution", "solve.sh"))) return false;
    await this.put(join(folder, "solution"), "/solution");
    const env = { ...this.env, ...solution };
    const argv = [...shell, "/solution/solve.sh"];
    const done = await this.machine.run({ argv, folder: this.task.workdir, env, seconds });
    this.refuseMore();
    return done;
  }

  /**
   * Ends what still runs, then runs the tests with clean folders of their own: no file that was there before is a reward.
   * @throws NoReward, Exceeded
   */
  async grade(signal?: AbortSignal): Promise<Graded> {
    const { folder, verifier, workdir, limits } = this.task;
    await this.machine.endProcesses();
    this.refuseMore();
    for (const place of ["/logs/verifier", "/tests", "/run"])
      await this.must(
        ["/usr/bin/mount", "-t", "tmpfs", "-o", `size=${limits.megabytes}m`, "tmpfs", place],
        "the tests' folders could not be made",
        "mount",
      );
    await this.must(["/usr/bin/mkdir", graderHome], "the tests' home could not be made");
    await this.put(join(folder, "tests"), "/tests");
    const env = { ...this.env, HOME: graderHome, PYTHONNOUSERSITE: "1", ...verifier.env };
    const argv = [...shell, "/tests/test.sh"];
    const done = await this.machine.run({
      argv,
      folder: workdir,
      env,
      seconds: verifier.seconds,
      ...(signal && { signal }),
    });
    await this.machine.endProcesses();
    this.refuseMore();
    if (done.isLate)
      throw new NoReward(`${this.task.name}: tests/test.sh took longer than ${verifier.seconds} s`);
    return { ...(await this.reward(done)), output: done.output };
  }

  private async reward(done: Finished): Promise<Omit<Graded, "output">> {
    const read = async (name: string): Promise<string | undefined> => {
      const path = `/logs/verifier/${name}`;
      const argv = [...shell, "-c", `[ -f ${path} ] && [ ! -L ${path} ] && cat ${path}`];
      const { code, output } = await this.machine.run({ argv, folder: "/", env: bare, seconds: 10 });
      return code === 0 ? output : undefined;
    };
    const json = await read("reward.json");
    const found = json === undefined ? numberOf(await read("reward.txt")) : numbersOf(json);
    if (found !== undefined) return found;
    const last = done.output.trim().split("\n").slice(-3).join(" | ");
    throw new NoReward(
      `${this.task.name}: tests/test.sh (left with ${done.code}) wrote no number to /logs/verifier/reward.txt or reward.json; it ended with: ${last}`,
    );
  }

  /** Ends everything that runs in it. */
  close(): Promise<void> {
    return this.machine.close();
  }
}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

function numberOf(text: string | undefined): Omit<Graded, "output"> | undefined {
  const reward = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(reward) ? { reward, components: {} } : undefined;
}

/** A number, `{ reward, … }`, or one number by its name. */
function numbersOf(text: string): Omit<Graded, "output"> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (isNumber(value)) return { reward: value, components: {} };
  if (typeof value !== "object" || value === null) return undefined;
  const all = Object.entries(value);
  const numbers = all.filter((entry): entry is [string, number] => isNumber(entry[1]));
  const reward =
    numbers.find(([name]) => name === "reward")?.[1] ?? (numbers.length === 1 ? numbers[0]![1] : undefined);
  if (reward === undefined || numbers.length !== all.length) return undefined;
  return { reward, components: Object.fromEntries(numbers.filter(([name]) => name !== "reward")) };
}
