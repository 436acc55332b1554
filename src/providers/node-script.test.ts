import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { argvOfProgram } from './node-script.ts'

const dir = mkdtempSync(join(tmpdir(), 'cao-node-script-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

it.each([
  ['#!/usr/bin/env node\nnot node', true],
  ['#!/usr/bin/env -S node --no-warnings\n', true],
  ['#!/bin/sh\nexec node "$0"', false],
  ['\u007fELF node', false],
])('runs %j on our own Node only when it is a script for Node', async (content, isScript) => {
  const path = join(dir, 'program')
  writeFileSync(path, content)
  expect(await argvOfProgram(path)).toEqual(isScript ? [process.execPath, path] : [path])
})

it('runs what can not be read as it is', async () => {
  expect(await argvOfProgram(join(dir, 'missing'))).toEqual([join(dir, 'missing')])
})
