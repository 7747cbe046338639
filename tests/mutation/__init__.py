"""Mutation tests: does a test fail when a line of the statistics, the gates or the store is changed?"""
