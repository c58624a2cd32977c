/** The data that a converted script evaluates on: a config of Gradus has no place for it, and its rows can be checked. */
import { resolve } from "node:path";
import { isConfigName } from "../../../config/configKind.ts";
import { pathFrom } from "../../lens/paths.ts";
import { smallText } from "../../text/fileReader.ts";
import { asConfig } from "./convertFile.ts";

/** Paths from the script's folder. @param file a config that loads */
export function evaluationFiles(file: string): readonly string[] {
  const path = resolve(file);
  const text = isConfigName(path) ? undefined : smallText(path);
  const converted = text === undefined ? undefined : asConfig(path, text);
  const named = converted?.unmapped.find(({ key }) => key === "data.val_files")?.value ?? [];
  return [named].flat().flatMap((one) => (typeof one === "string" ? [pathFrom(path, one)] : []));
}
