// What only the tests need: a browser and a workbench, libsql for the store's tests on it, other editors' clients. Where
// one cannot be had the tests that use it are skipped, with the reason.
import { setUpBrowser } from "./browser.mjs";
import { nativeRoot } from "./places.mjs";
import { lastLines, sideBySide } from "./process.mjs";
import { setUpPythonTools } from "./pythonTools.mjs";
import { installLibsql } from "./sqlite.mjs";
import { setUpWorkbench } from "./workbench.mjs";

async function setUpLibsql() {
  try {
    const { status, output } = await installLibsql(nativeRoot());
    return status === 0 ? {} : { skip: `libsql does not open a database: ${lastLines(output, 1)}` };
  } catch (error) {
    return { skip: `libsql cannot be installed: ${error.message}` };
  }
}

/** A workbench is opened in the browser. */
async function setUpEditor() {
  const browser = await setUpBrowser();
  return { browser, workbench: browser.skip === undefined ? await setUpWorkbench() : { skip: browser.skip } };
}

/** What each needs comes from another place, so that all are fetched and built side by side. */
export async function setUpTests() {
  const [libsql, { browser, workbench }, tools] = await sideBySide([
    setUpLibsql(),
    setUpEditor(),
    setUpPythonTools(),
  ]);
  return { libsql, browser, workbench, ...tools };
}
