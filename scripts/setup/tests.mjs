// What only the tests need: a browser and a workbench. Where one cannot be had the tiers that use it are skipped, with the reason.
import { setUpBrowser } from "./browser.mjs";
import { setUpWorkbench } from "./workbench.mjs";

export async function setUpTests() {
  const browser = await setUpBrowser();
  return { browser, workbench: browser.skip === undefined ? await setUpWorkbench() : { skip: browser.skip } };
}
