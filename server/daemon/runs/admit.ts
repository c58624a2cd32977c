/** Before a run starts: its config is read once more, and one with errors starts nothing. */
import { isAbsolute } from "node:path";
import { ResponseError } from "vscode-jsonrpc/node";
import { UserError } from "../../../shared/lib/errors.ts";
import { errorCodes, type ParamsOf, type runsStart } from "../../../shared/protocol/protocol.ts";
import { engineNames, type ExternalEngine } from "../../../shared/run/engines.ts";
import { loadFile } from "../../frameworks/asConfig/load.ts";
import { engineKeys } from "../../frameworks/export/engineKeys.ts";
import { modelFacts } from "../../analysis/modelFacts.ts";

interface Admitted {
  readonly name: string;
  /** The config's text where the file is another trainer's: the worker reads it in the file's place. */
  readonly converted: string | undefined;
}

/** Throws with the config's diagnostics when it has errors. */
export function readyToRun({ file, set, steps, seed }: ParamsOf<typeof runsStart>): Admitted {
  if (!isAbsolute(file))
    throw new UserError(`${file} is not an absolute path.`, {
      file,
      code: "refused",
      action: "Name the config by its absolute path.",
    });
  const { config, diagnostics, converted } = loadFile(file, {
    set,
    models: modelFacts,
    engineKeys,
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
  });
  if (config !== undefined && config.engine.use !== "embedded") throw trainsElsewhere(file, config.engine.use);
  if (config !== undefined) return { name: config.name, converted: converted?.config };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const first = errors[0];
  throw new ResponseError(
    errorCodes.invalidConfig,
    `${file} has ${errors.length === 1 ? "an error" : `${errors.length} errors`}: ${first?.message ?? "it cannot be read"}`,
    {
      action: `Fix what \`gradus validate ${file}\` lists, then start again.`,
      file: first?.file ?? file,
      line: first?.range.start.line,
      character: first?.range.start.character,
      diagnostics,
    },
  );
}

const trainsElsewhere = (file: string, use: ExternalEngine): UserError =>
  new UserError(`${engineNames[use]} trains this config: \`engine.use\` says so.`, {
    file,
    code: "engine-elsewhere",
    action: `Write its project with \`gradus export ${file}\`, or rehearse with the engine of Gradus: --set engine.use=embedded.`,
  });
