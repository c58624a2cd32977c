/** The memory here, and what of it a run of a config needs. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { needs } from "../../config/needs.ts";
import { loadFile } from "../../frameworks/use/asConfig/load.ts";
import { admitMemory, arithmetic, limitOf } from "../../analysis/memory/estimate.ts";
import { sizeText } from "../../analysis/memory/note.ts";
import type { Check } from "./checks.ts";

const name = "memory";
const here = (): string => {
  const { bytes, because } = limitOf({ engine: {} });
  return `a run may take ${sizeText(bytes)}, ${because}`;
};

/** @param file a config; without one, only what there is */
export function checkMemory(file: string | undefined): Check {
  if (file === undefined) return { name, status: "ok", detail: here() };
  const { config } = loadFile(resolve(file));
  if (config === undefined && loadFile(resolve(file), {}, { needs: needs.drawn }).config !== undefined)
    return {
      name,
      status: "optional",
      detail: "unknown until model.base is a model on this machine",
      fix: `gradus run ${copiedWord(file)} --set model.base=tiny --dry-run tries it with a tiny model`,
    };
  if (config === undefined)
    return {
      name,
      status: "missing",
      detail: `${file} has errors, so its memory cannot be predicted`,
      fix: `gradus validate ${copiedWord(file)}`,
    };
  try {
    const { peak, limit, prediction } = admitMemory(config);
    return {
      name,
      status: "ok",
      detail: `${file} needs about ${sizeText(peak)} of ${sizeText(limit.bytes)}: ${arithmetic(prediction)}`,
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { action } = error.detail;
    return {
      name,
      status: "missing",
      detail: error.message,
      ...(action === undefined ? {} : { fix: action }),
    };
  }
}
