"""``python -m grpo_rewards``: the command line, where the script ``grpo-rewards`` is not on the path."""

from grpo_rewards._cli import main

if __name__ == "__main__":
    main()
