/** Before a run starts: its config is read once more, and one with errors starts nothing. */
import type { ExternalEngine } from "../../../shared/run/trainers.ts";
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { dirname, isAbsolute } from "node:path";
import { ResponseError } from "vscode-jsonrpc/node";
import type { SiteFolder } from "../../../shared/run/run.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { errorCodes, type ParamsOf, type runsStart } from "../../../shared/protocol/protocol.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import { engineKeys } from "../../frameworks/lens/engineKeys.ts";
import { modelFacts } from "../../analysis/modelFacts.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { engineOf } from "../../sites/project.ts";
import { siteOf } from "../../sites/siteOf.ts";

interface Admitted {
  readonly name: string;
  /** The config's text where the file is another trainer's: the worker reads it in the file's place. */
  readonly converted: string | undefined;
  /** Where another trainer trains it; undefined: the engine of Gradus does. */
  readonly place:
    | (Omit<SiteFolder, "folder"> & { readonly root: string; readonly engine: ExternalEngine })
    | undefined;
}

/** Throws with the config's diagnostics when it has errors. */
export function readyToRun({ file, set, steps, seed, site }: ParamsOf<typeof runsStart>): Admitted {
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
    trials: "none",
    ...(steps === undefined ? {} : { steps }),
    ...(seed === undefined ? {} : { seed }),
  });
  if (config !== undefined)
    return { name: config.name, converted: converted?.config, place: placeOf(config, site) };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const first = errors[0];
  throw new ResponseError(
    errorCodes.invalidConfig,
    `${file} has ${errors.length === 1 ? "an error" : `${errors.length} errors`}: ${first?.message ?? "it cannot be read"}`,
    {
      action: `Fix what \`gradus validate ${copiedWord(file)}\` lists, then start again.`,
      file: first?.file ?? file,
      line: first?.range.start.line,
      character: first?.range.start.character,
      diagnostics,
    },
  );
}

/** @throws UserError where another machine is named, and the engine of Gradus trains */
function placeOf(config: RunConfig, site: ParamsOf<typeof runsStart>["site"]): Admitted["place"] {
  const isHere = site === undefined || site.name === "here";
  if (isHere && config.engine.use === "embedded") return undefined;
  const engine = engineOf(config);
  const { reference, config: found, shell } = siteOf(site?.name ?? "here", dirname(config.file));
  shell.close();
  const { estimate } = site ?? {};
  return { site: reference, root: found.folder, engine, ...(estimate === undefined ? {} : { estimate }) };
}
