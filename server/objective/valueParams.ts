/** What losses of value heads share: parameters, and columns. */
import { z } from "zod";
import type { Channel } from "../seams.ts";

export const headParam = (usual: string) =>
  z.string().min(1).default(usual).describe("Name of the head in `model.value_heads`.");
export const gammaParam = z
  .number()
  .min(0)
  .max(1)
  .default(1)
  .describe("Discount of rewards to come, where no returns are known.");
export const headChannel = (name: string): Channel => `head:${name}`;
