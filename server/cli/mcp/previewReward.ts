/** The tool `preview_reward`: what an edit of a config or a reward would have changed on recorded rollouts. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { ask } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { rescore } from "../../../shared/protocol/protocol.ts";
import type { ChangedRollout } from "../../../shared/rollouts/rescore.ts";
import { engineKeys } from "../../frameworks/lens/engineKeys.ts";
import { modelFacts } from "../../analysis/modelFacts.ts";
import { isConfigName } from "../../config/configKind.ts";
import { allDiagnostics } from "../../rules/load.ts";
import { storeOf, withDaemon } from "../runs/store.ts";
import { plainJson } from "./fence.ts";
import { named, parsed, shown } from "./parameters.ts";
import { answer, reads, type Place } from "./tool.ts";

const parameters = z.strictObject({
  config: named.min(1).describe("The Gradus config's file; its last run is scored again."),
  text: z
    .string()
    .optional()
    .describe("The config's text as edited; default: as it is on disk. Nothing is written."),
  reward_files: z
    .record(z.string(), z.string())
    .optional()
    .describe("Texts of edited reward files by their paths. Refused where the workspace is not trusted."),
  scope: z
    .enum(["step", "run"])
    .default("run")
    .describe("The last step, or as many of the run's steps as two seconds allow."),
});
type Wish = z.output<typeof parameters>;

export function addPreviewReward(server: McpServer, place: Place): void {
  server.registerTool(
    "preview_reward",
    {
      title: "Preview an edited reward",
      description: `Scores the recorded rollouts of a config's last run again with its edited text: means before and now, flipped ranks and signs, groups that gain or lose their signal, the rollouts that change most. ${place.trusted ? "Reward files of the workspace are run, and so is all that its terms start or ask." : "Only terms that compute in this process are scored: reward files and terms that run programs or ask servers keep their recorded values, and `notes` says so."}`,
      inputSchema: shown(parameters),
      annotations: { ...reads, readOnlyHint: !place.trusted },
    },
    (wish) => answer("`scope: step`", () => preview(place, parsed(parameters, wish))),
  );
}

async function preview({ store, trusted }: Place, wish: Wish): Promise<readonly string[]> {
  const file = resolve(wish.config);
  const unsaved = unsavedOf(wish.reward_files ?? {}, trusted);
  const { text, scope } = wish;
  const edited = { uri: file, unsaved, trusted, scope, ...(text === undefined ? {} : { text }) };
  const { rescored } = await withDaemon(store ?? storeOf(undefined, file), async (connection) => {
    try {
      return await ask(connection, rescore, edited);
    } catch (error) {
      throw error instanceof UserError && error.detail.code === "invalidConfig"
        ? withErrors(error, file, text)
        : error;
    }
  });
  if (rescored === null)
    throw new UserError("No run of this config has recorded rollouts yet.", {
      file,
      code: "rollouts-empty",
      action: "Ask the person to run it (gradus run FILE), or name the config of a run of the list.",
    });
  return [plainJson({ ...rescored, most: rescored.most.map(numbersOf) })];
}

/** The text is nowhere but here, so no other tool can say what is wrong with it. */
function withErrors(error: UserError, file: string, text: string | undefined): UserError {
  const found =
    text === undefined || !isConfigName(file)
      ? []
      : allDiagnostics(file, { text, set: [], models: modelFacts, engineKeys }).filter(
          ({ severity }) => severity === "error",
        );
  return new UserError(
    found.length === 0
      ? error.message
      : `The edited text has errors: ${found.map(({ range, message }) => `line ${range.start.line + 1}: ${message}`).join(" ")}`,
    {
      file,
      code: "invalidConfig",
      action: found.length === 0 ? "Ask `validate` what is wrong." : "Fix them and try again.",
    },
  );
}

/** By absolute path. A path that is no file would be a preview of nothing. */
function unsavedOf(files: Readonly<Record<string, string>>, trusted: boolean): Record<string, string> {
  const paths = Object.entries(files).map(([path, text]) => [resolve(path), text] as const);
  if (paths.length > 0 && !trusted)
    throw new UserError(
      "Reward files are not run in this workspace, so their edited text cannot be scored.",
      {
        code: "untrusted",
        action: "Preview the config's text alone, or ask the person to start `gradus mcp --trust-workspace`.",
      },
    );
  for (const [path] of paths)
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
      throw new UserError("There is no such reward file.", {
        file: path,
        code: "missing-file",
        action: "Name a file that the config's `reward.terms` use.",
      });
  return Object.fromEntries(paths);
}

/** Prompts, responses and messages of errors are the tool `rollouts`' to tell, fenced. */
const numbersOf = ({ step, group, index, reward, advantage, terms, errors }: ChangedRollout): object => ({
  step,
  group,
  index,
  reward,
  advantage,
  terms,
  failed: Object.keys(errors),
});
