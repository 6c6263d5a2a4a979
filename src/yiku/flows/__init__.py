"""Operations of the API (record, recall, erase, …), each as steps over pure rules, the store, models and files."""
