/** The Hugging Face cache of the fixtures, in the place of this machine's. */
import { join, resolve } from "node:path";
import { after, before } from "node:test";

export const datasets = resolve("test/fixtures/datasets");
export const hub = join(datasets, "hub");

/** For the tests of the file, or of the suite, that calls it. */
export function useHubCache(): void {
  const { HF_HUB_CACHE } = process.env;
  before(() => {
    process.env["HF_HUB_CACHE"] = hub;
  });
  after(() => {
    if (HF_HUB_CACHE === undefined) delete process.env["HF_HUB_CACHE"];
    else process.env["HF_HUB_CACHE"] = HF_HUB_CACHE;
  });
}
