/** Which walls stand around the programs that the policy of a run writes. */
import type { StageBody } from "../../core/config/resolved.ts";
import { wallOf, type SandboxSetting, type WallName } from "../../lib/sandbox/wall/wall.ts";
import type { StartNote } from "../models/trainable.ts";

/** Methods that run a model's program. */
const running = new Set(["unit_tests", "table_match", "code", "sql"]);

const runsPrograms = ({ reward, rollout }: StageBody): boolean =>
  [...reward.terms.map(({ term }) => term), ...rollout.tools].some(({ declaration }) =>
    running.has(declaration.name),
  );

/** "a process, Node's permissions, Linux namespaces". */
export const wallsText = (names: readonly WallName[]): string => names.map((name) => words[name]).join(", ");

const words: Readonly<Record<WallName, string>> = {
  process: "a process of its own",
  permissions: "Node's permissions",
  namespaces: "Linux namespaces",
  docker: "docker",
  podman: "podman",
  bwrap: "Bubblewrap",
};

/** @throws UserError where a stage demands walls that this machine has not */
export async function sandboxNotes(bodies: readonly StageBody[]): Promise<StartNote[]> {
  const settings = new Map<string, SandboxSetting>();
  for (const body of bodies)
    if (runsPrograms(body)) settings.set(JSON.stringify(body.sandbox ?? "auto"), body.sandbox ?? "auto");
  const walls = await Promise.all([...settings.values()].map((setting) => wallOf(setting)));
  return walls.map(({ names }) => ({
    name: "sandbox",
    message: `Programs that the policy writes are kept in by ${wallsText(names)}.`,
    action:
      names.length > 2
        ? ""
        : "For a wall that others audit, write `sandbox: { by: docker }`, podman or bwrap.",
  }));
}
