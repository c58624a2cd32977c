/** Python files next to an OpenRLHF script that names them. */
import { dirname, resolve } from "node:path";
import { smallText } from "../../text/fileReader.ts";
import type { Flags } from "./flags.ts";

export const siblingText = ({ model }: Flags, path: string): string | undefined =>
  smallText(resolve(dirname(model.document.file), path));
