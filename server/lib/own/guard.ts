/**
 * Ends a program with all that it started when this process is killed, so that it can end nothing itself: a shell waits for the end
 * of a pipe that only this process holds.
 */
import { spawn } from "node:child_process";
import { markName } from "./processGroup.ts";

/** Processes of the group, and those that carry the mark in their environment, until there is none left. */
const script = `
read -r _
kill -9 -- "-$1"
while :; do
  found=0
  for file in /proc/[0-9]*/environ; do
    grep -qzxF -- "$2" "$file" || continue
    pid=\${file#/proc/}
    kill -9 "\${pid%/environ}" && found=1
  done
  [ "$found" = 1 ] || exit 0
done
`;

/** @param leader of a group of its own. @returns what ends the watch: it has ended by itself */
export function guarded(leader: number, mark: string): () => void {
  if (process.platform === "win32") return () => undefined;
  const guard = spawn("/bin/sh", ["-c", script, "sh", String(leader), `${markName}=${mark}`], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
    env: { PATH: "/usr/bin:/bin" },
  });
  guard.on("error", () => undefined);
  guard.stdin.on("error", () => undefined);
  guard.unref();
  return () => void guard.kill("SIGKILL");
}
