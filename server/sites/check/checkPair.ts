import type { Needs } from "../../frameworks/lens/exporter.ts";
import type { Site } from "../siteOf.ts";
import { pairFindings, type PairFinding } from "./pairFindings.ts";
import { probeSite } from "./probeSite.ts";

/** What a project needs and a site has. @throws UserError where the site does not answer */
export async function checkPair({ config, shell }: Site, needs: Needs): Promise<PairFinding[]> {
  return pairFindings(config, needs, await probeSite(shell, config, needs));
}
