/** Folders that `save_to_disk` of Hugging Face's `datasets` wrote: Arrow files, and a `state.json` that lists them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { limits, readText } from "../inputFile.ts";

/** Of a `DatasetDict`; undefined where the folder is none. */
export const savedSplits = (folder: string): readonly string[] | undefined =>
  textsIn(join(folder, "dataset_dict.json"), ({ splits }) => splits);

/** The Arrow files of one split, absolute; undefined where the folder is none. */
export function savedFiles(folder: string): readonly string[] | undefined {
  if (!existsSync(join(folder, "dataset_info.json"))) return undefined;
  return textsIn(join(folder, "state.json"), ({ _data_files: files }) =>
    Array.isArray(files)
      ? files.map((one: unknown) =>
          typeof one === "object" && one !== null && "filename" in one ? one.filename : undefined,
        )
      : undefined,
  )?.map((file) => join(folder, file));
}

function textsIn(
  file: string,
  listOf: (value: Readonly<Record<string, unknown>>) => unknown,
): readonly string[] | undefined {
  if (!existsSync(file)) return undefined;
  const found = listOf(objectOf(file));
  if (Array.isArray(found) && found.length > 0 && found.every((one) => typeof one === "string")) return found;
  throw damaged(file);
}

function objectOf(file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(readText(file, limits.modelJson));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) throw damaged(file);
    throw error;
  }
}

const damaged = (file: string): UserError =>
  new UserError("the file does not list the parts of a saved dataset", {
    file,
    code: "dataset-folder",
    action: "Save the dataset again with `save_to_disk`.",
  });
