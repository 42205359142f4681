#!/usr/bin/env node
import '../scripts/bootstrap.mjs'
