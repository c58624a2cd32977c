/**
 * A project of `gradus export` as a job of a site: brought there, started so that it outlives the connection, looked at, stopped.
 * The project's folder says what became of it: `job.pid` (pid, start of the process, boot), `job.code`, `log-1.txt`, `log-2.txt`, …
 */
import { spawn } from "node:child_process";
import { UserError } from "../../shared/lib/errors.ts";
import { windowsProgram } from "../../shared/lib/windowsProgram.ts";
import { shellQuoted } from "../../shared/lib/shellQuoted.ts";
import type { JobState } from "./jobs/runner.ts";
import { shellWord, type Shell, type ShellAnswer } from "./shell.ts";

export interface JobStart {
  /** Go on from the last checkpoint. */
  readonly resume: boolean;
  readonly env: Readonly<Record<string, string>>;
}

export interface StartedJob {
  /** Of the process that leads the job's process group. */
  readonly pid: number;
  /** In the folder. */
  readonly log: string;
}

const codes = { missing: 44, noTool: 45, noLaunch: 46, running: 47, silent: 48 } as const;
/** Of a job that was killed by SIGKILL. */
const killedCode = 137;
/** Seconds between SIGTERM and SIGKILL. */
const termSeconds = 10;

/**
 * Copies a folder, with its sub-folders, over what is there.
 * @throws UserError where it cannot be written; a transfer that breaks off leaves the remote folder as it was
 */
export async function upload(shell: Shell, localFolder: string, remoteFolder: string): Promise<void> {
  const input = await packed(localFolder);
  const [place, part] = [shellWord(remoteFolder), shellWord(`${remoteFolder}.part`)];
  const script = `
rm -rf -- ${part} && mkdir -p -- ${part} || exit 1
(cd -- ${part} && tar -xof -) || { rm -rf -- ${part}; exit 1; }
if [ -d ${place} ]; then cp -R -p -- ${part}/. ${place}/ && rm -rf -- ${part}; else mv -- ${part} ${place}; fi`;
  const answer = await shell.run(script, { input, seconds: 600 });
  if (answer.code !== 0)
    throw failed(
      shell,
      answer,
      `${remoteFolder} cannot be written`,
      "Free space there, or name another folder.",
    );
}

/** Windows has one of its own. */
const tar = process.platform === "win32" ? windowsProgram("tar.exe") : "tar";

function packed(folder: string): Promise<Buffer> {
  return new Promise((done, refuse) => {
    const child = spawn(tar, ["-C", folder, "-cf", "-", "."], {
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
      // macOS would add a file of attributes to each.
      env: { ...process.env, COPYFILE_DISABLE: "1" },
    });
    const out: Buffer[] = [];
    let said = "";
    child.stdout.on("data", (bytes: Buffer) => out.push(bytes));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const problem = (what: string): UserError =>
      new UserError(`The project cannot be packed: ${what}.`, {
        file: folder,
        code: "site-upload",
        action: "Check that the folder can be read and that `tar` is installed on this machine.",
      });
    child.on("error", (error) => refuse(problem(error.message)));
    child.on("close", (code) => {
      if (code === 0) done(Buffer.concat(out));
      else refuse(problem(said.trim()));
    });
  });
}

/** A function that prints when a process began, and whether it lives; and one that says whether the job runs, with its pid. */
const functions = `
LC_ALL=C; export LC_ALL; unset CDPATH
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
began() { s=$(cat /proc/"$1"/stat 2>/dev/null) || return 1; s=\${s##*) }; set -- $s; case $1 in Z|X) return 1;; esac; echo "\${20}"; }
runs() { [ -s job.pid ] && read -r pid start where < job.pid && [ "$where" = "$boot" ] && [ "$(began "$pid")" = "$start" ]; }
`;

/** What leads the job: it writes who it is, and outlives a SIGTERM of its group to write how the trainer ended. */
const leader = `${functions}
trap : TERM
echo "$$ $(began $$) $boot" > job.pid.new && mv job.pid.new job.pid
sh launch.sh "$@"
echo $? > job.code.new && mv job.code.new job.code`;

/** @throws UserError where the project is not there, or runs already */
export async function startJob(shell: Shell, folder: string, { resume, env }: JobStart): Promise<StartedJob> {
  const script = `${functions}
cd -- ${shellWord(folder)} 2>/dev/null || exit ${codes.missing}
[ -r /proc/self/stat ] && command -v setsid >/dev/null && command -v nohup >/dev/null || exit ${codes.noTool}
[ -f launch.sh ] || exit ${codes.noLaunch}
find job.starting -prune -mmin +1 -exec rmdir {} \\; 2>/dev/null
mkdir job.starting 2>/dev/null || exit ${codes.running}
trap 'rmdir job.starting 2>/dev/null' EXIT
trap 'exit 1' HUP INT TERM PIPE
runs && exit ${codes.running}
n=1; while [ -e log-$n.txt ]; do n=$((n + 1)); done
rm -f job.pid job.code out/stop
${exports(env)}
setsid nohup sh -c ${shellWord(leader)} sh ${resume ? "--resume" : ""} < /dev/null > log-$n.txt 2>&1 &
i=0; while [ ! -s job.pid ]; do i=$((i + 1)); [ $i -gt 100 ] && exit ${codes.silent}; sleep 0.1; done
read -r pid start where < job.pid
echo "$pid log-$n.txt"`;
  const answer = await shell.run(script);
  if (answer.code !== 0) throw notStarted(shell, folder, answer);
  const [pid = "", log = ""] = answer.stdout.toString("utf8").trim().split(" ");
  return { pid: Number(pid), log };
}

const exports = (env: JobStart["env"]): string =>
  Object.entries(env)
    .map(([name, value]) => {
      if (/^[A-Za-z_]\w*$/.test(name)) return `export ${name}=${shellQuoted(value)}`;
      throw new UserError(`${JSON.stringify(name)} is the name of no environment variable.`, {
        code: "site-env",
        action: "Use letters, digits and underscores, and no digit first.",
      });
    })
    .join("\n");

function notStarted(shell: Shell, folder: string, answer: ShellAnswer): UserError {
  const place = `${shell.name}:${folder}`;
  const problem = (message: string, code: string, action: string): UserError =>
    new UserError(message, { file: place, code, action });
  switch (answer.code) {
    case codes.missing:
    case codes.noLaunch:
      return problem(`There is no project in ${place}.`, "job-missing", "Upload it again.");
    case codes.noTool:
      return problem(
        `${shell.name} cannot keep a job: it has no /proc, setsid or nohup.`,
        "job-tools",
        "Use a machine with Linux, and install util-linux and coreutils there.",
      );
    case codes.running:
      return problem(`A job runs in ${place} already.`, "job-running", "Stop it first, or wait for its end.");
    case codes.silent:
      return problem(
        `The job in ${place} did not begin.`,
        "job-silent",
        `Read the newest log-N.txt in ${place}.`,
      );
    default:
      return failed(shell, answer, `The job in ${place} cannot be started`, "Look into the folder there.");
  }
}

export async function jobState(shell: Shell, folder: string): Promise<JobState> {
  return stateIn(
    shell,
    folder,
    await shell.run(
      `${functions}\ncd -- ${shellWord(folder)} 2>/dev/null || { echo absent; exit 0; }\n${say}`,
    ),
  );
}

/** The code is looked for again after the process: it may have been written in between. */
const say = `
if runs; then echo running
elif [ -s job.code ]; then echo "ended $(cat job.code)"
elif [ -s job.pid ]; then echo gone
else echo absent; fi`;

function stateIn(shell: Shell, folder: string, answer: ShellAnswer): JobState {
  const [kind, code] = answer.stdout.toString("utf8").trim().split(" ");
  switch (answer.code === 0 ? kind : undefined) {
    case "absent":
      return { kind: "absent" };
    case "gone":
      return {
        kind: "gone",
        message: "its process is no more: it was killed, or its machine was restarted",
      };
    case "running":
      return { kind: "running" };
    case "ended":
      return { kind: "ended", code: Number(code), message: "" };
    default:
      throw failed(
        shell,
        answer,
        `${shell.name}:${folder} cannot be looked at`,
        "Look into the folder there.",
      );
  }
}

/**
 * Gently: the trainer is asked to save and to end after its present step. Else its process group is sent SIGTERM, and SIGKILL where
 * that does not end it within 10 s.
 * @returns the job's state afterwards
 */
export async function stopJob(
  shell: Shell,
  folder: string,
  { gently, seconds = termSeconds }: { readonly gently: boolean; readonly seconds?: number },
): Promise<JobState> {
  const end = gently
    ? `if runs; then mkdir -p out && : > out/stop || exit 1; fi`
    : `
if runs; then
  kill -TERM -"$pid" 2>/dev/null
  i=0; while runs && [ $i -lt ${Math.ceil(seconds * 10)} ]; do i=$((i + 1)); sleep 0.1; done
  if runs; then kill -KILL -"$pid"; while runs; do sleep 0.1; done; [ -s job.code ] || echo ${killedCode} > job.code; fi
fi`;
  const script = `${functions}\ncd -- ${shellWord(folder)} 2>/dev/null || { echo absent; exit 0; }\n${end}\n${say}`;
  return stateIn(shell, folder, await shell.run(script, { seconds: seconds + 50 }));
}

function failed(shell: Shell, { code, stderr }: ShellAnswer, what: string, action: string): UserError {
  const said = stderr.trim().split("\n").at(-1) ?? "";
  return new UserError(`${what} on ${shell.name}: ${said === "" ? `exit code ${code}` : said}.`, {
    code: "site-failed",
    action,
  });
}
