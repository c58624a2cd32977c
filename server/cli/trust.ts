/**
 * What each command starts of the folder that it works on: interpreters, files of rewards and environments, commands of a config.
 * docs/trust.md is checked against it, and `server/cli.ts` holds every command to it.
 */
import type { Command as Program } from "commander";
import { withhold } from "../lib/own/withheld.ts";

export type Starts =
  /** It only looks. */
  | "nothing"
  /** It looks, unless the person says that they trust the folder. */
  | "with --trust-workspace"
  /** That is what it is for: the config that was named is run. */
  | "what its config names";

export const flag = "--trust-workspace";

export const starts = {
  init: "nothing",
  run: "what its config names",
  check: "with --trust-workspace",
  validate: "nothing",
  resolve: "nothing",
  convert: "nothing",
  explain: "nothing",
  reward: "what its config names",
  test: "what its config names",
  judge: "what its config names",
  runs: "nothing",
  rollouts: "nothing",
  sample: "nothing",
  serve: "nothing",
  evaluate: "what its config names",
  methods: "nothing",
  presets: "nothing",
  papers: "nothing",
  rules: "nothing",
  schema: "nothing",
  // Its threads start what a request allows: see the requests of the same page.
  daemon: "nothing",
  doctor: "with --trust-workspace",
  engine: "nothing",
  curriculum: "with --trust-workspace",
  export: "with --trust-workspace",
  hook: "nothing",
  mcp: "with --trust-workspace",
  lsp: "nothing",
  worker: "what its config names",
} as const satisfies Readonly<Record<string, Starts>>;

/** Withholds programs of the folder from a command that starts none. */
export function holdTo(name: keyof typeof starts, { trustWorkspace }: ReturnType<Program["opts"]>): void {
  const what: Starts = starts[name];
  if (what === "what its config names" || trustWorkspace === true) return;
  withhold(
    what === "nothing"
      ? `\`gradus ${name}\` runs nothing of a folder. Please report how you came here.`
      : `If you trust what is in this folder, run \`gradus ${name}\` again with \`${flag}\`.`,
  );
}
