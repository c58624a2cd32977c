// What only the tests need: a browser and a workbench, libsql for the store's tests on it, other editors' clients. Where
// one cannot be had the tests that use it are skipped, with the reason.
import { setUpBrowser } from "./browser.mjs";
import { nativeRoot } from "./places.mjs";
import { lastLines } from "./process.mjs";
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

export async function setUpTests() {
  const libsql = await setUpLibsql();
  const browser = await setUpBrowser();
  const workbench = browser.skip === undefined ? await setUpWorkbench() : { skip: browser.skip };
  return { libsql, browser, workbench, ...(await setUpPythonTools()) };
}
