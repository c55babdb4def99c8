"""Reward functions for reinforcement learning with verifiable rewards."""
