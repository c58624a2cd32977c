import { UserError } from "../../shared/errors.ts";
import type { Runtime } from "./runtime.ts";

export async function openWasm(): Promise<Runtime> {
  throw new UserError("placeholder");
}
